"""The names that CCCL's headers declare in its public namespaces, read off their text. Which of them a compiler sees is make_names.py's
matter."""
import os
import re

TOKEN = re.compile(r"[A-Za-z_]\w*|::|\S")
BEGIN = re.compile(r"(?:_LIBCUDACXX|_CCCL)_BEGIN_NAMESPACE_(\w+)$")
END = re.compile(r"(?:_LIBCUDACXX|_CCCL)_END_NAMESPACE_\w+$")
SKIP = {"inline", "static", "constexpr", "const", "extern", "friend", "volatile", "typename", "unsigned", "auto", "void", "noexcept", "explicit"}


def macro_free(text):
    """Without comments, strings and preprocessor lines."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text.replace("\\\n", " "), flags=re.S)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    return re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M)


def spaces_of(macro):
    """["cuda", "std", "ranges"] of a macro that opens libcu++'s namespaces."""
    words = [word for word in macro.lower().split("_") if word not in ("noversion", "abi")]
    if not words or words[0] in ("cpo", "arch"):
        return ["__detail"]
    if macro.startswith("STD") and "CUDA" not in macro:
        return ["cuda", *words]
    return words if words[0] == "cuda" else ["cuda", "std", *(["ranges"] if words == ["views"] else []), *words]


def without_template(tokens):
    """The declaration behind template<...>, requires and attributes."""
    while tokens[:2] == ["template", "<"]:
        depth = 0
        for i, token in enumerate(tokens[1:], 1):
            depth += (token == "<") - (token == ">")
            if depth == 0:
                tokens = tokens[i + 1 :]
                break
        else:
            return []
    return tokens


def is_macro(token):
    return token.isupper() or token.startswith("_CCCL") or token.startswith("_LIBCUDACXX") or token.startswith("__")


def without_macros(tokens):
    """Without NAME, NAME(...) of macros and __attribute__((...)), [[...]]."""
    result, i = [], 0
    while i < len(tokens):
        is_attribute = tokens[i] == "[" and tokens[i + 1 : i + 2] == ["["]
        if is_attribute or (re.match(r"[A-Za-z_]", tokens[i]) and is_macro(tokens[i])):
            opens, closes = ("[", "]") if is_attribute else ("(", ")")
            i += 0 if is_attribute else 1
            if tokens[i : i + 1] == [opens]:
                depth = 0
                while i < len(tokens):
                    depth += (tokens[i] == opens) - (tokens[i] == closes)
                    i += 1
                    if depth == 0:
                        break
            continue
        result.append(tokens[i])
        i += 1
    return result


def name_of(tokens):
    """What a declaration at namespace scope declares."""
    tokens = without_macros(without_template(tokens))
    if not tokens:
        return None
    head = tokens[0]
    if head == "using":
        if tokens[1:2] == ["namespace"] or len(tokens) < 2:
            return None
        return tokens[1] if "=" in tokens else tokens[-1]
    if head == "typedef":
        return tokens[-1] if re.match(r"[A-Za-z_]\w*$", tokens[-1]) else None
    if head in ("struct", "class", "union", "enum"):
        rest = [token for token in tokens[1:] if token not in ("class", "struct")]
        return rest[0] if rest and "(" not in tokens else None
    if head in ("namespace", "concept", "static_assert", "asm", "extern", "return", "}"):
        return None
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token == "<") - (token == ">")
        if token in ("(", "=") and depth <= 0 and i:
            before = tokens[i - 1]
            is_member = i > 1 and tokens[i - 2] == "::"
            return before if re.match(r"[A-Za-z]\w*$", before) and before not in SKIP and not is_member and i > 1 else None
    return None


def names_in(text, found):
    scopes, start = [], []  # of a scope: names of a namespace, or None
    depths = []
    for token in TOKEN.findall(text):
        begin = BEGIN.match(token)
        if token in ("THRUST_NAMESPACE_BEGIN", "CUB_NAMESPACE_BEGIN") or begin:
            depths.append(len(scopes))
            scopes.append(spaces_of(begin[1]) if begin else [token.split("_")[0].lower()])
            start = []
        elif token in ("THRUST_NAMESPACE_END", "CUB_NAMESPACE_END") or END.match(token):
            if depths:
                del scopes[depths.pop() :]
            start = []
        elif token == "{" or token == ";":
            is_open = all(scope is not None for scope in scopes)
            spaces = [name for scope in scopes if scope for name in scope]
            words = [word for word in start if word != "inline"]
            if token == "{" and words[:1] == ["namespace"]:
                scopes.append([word for word in words[1:] if word not in ("::",) and not is_macro(word)] or ["__detail"])
            else:
                name = name_of(start) if is_open and spaces else None
                if name and not name.startswith("_") and not name.isupper():
                    found.add("::".join([*spaces, name]))
                if token == "{":
                    scopes.append(None)
            start = []
        elif token == "}":
            if len(scopes) > (depths[-1] + 1 if depths else 0):
                scopes.pop()
            start = []
        else:
            start.append(token)


def declared(include):
    """{"cub::Max", "cuda::std::plus" ...} of the headers below a folder."""
    found = set()
    for top in ("thrust", "cub", "cuda"):
        for folder, _, files in os.walk(f"{include}/{top}"):
            if "/system/" in folder or "/experimental" in folder:
                continue
            for file in files:
                names_in(macro_free(open(f"{folder}/{file}", errors="replace").read()), found)
    hidden = re.compile(r"(^|::)(_\w*|detail|internal|\w*detail\w*|system|async|experimental|\w*_ns|\w*_impl|adl)::")
    # Agents and kernels of CUB are named by nobody else.
    other = re.compile(r"::(Agent\w*|\w+Kernel\w*|decltype|alignof|operator|static_assert)$")
    shape = re.compile(r"(thrust|cub|cuda)(::[a-z]\w*)*::[A-Za-z]\w*$")
    return {name for name in found if shape.match(name) and not hidden.search(name) and not other.search(name)}
