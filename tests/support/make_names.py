#!/usr/bin/env python3
"""Writes recipes/knowledge/names.txt: which names, headers, libraries and options of CUDA came or went between the releases that are read.

    make_names.py FOLDER > recipes/knowledge/names.txt

Real wheels of each release are downloaded into FOLDER, which can be kept for the next time (1 GB); of those that are large the list of
members alone is read. Options are what the tools' own --help prints, so this runs on x86_64 alone.

A name of CCCL is in a release when that release's public headers, compiled by nvcc, have it. It is not when nvcc says so and no
declaration of it stands in the text of the release either; names of which the two disagree are left out. Names of the toolkit's own
headers are words of their text. Only what differs between two releases is written.
"""
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

from cccl_names import declared, macro_free
from make_pins import Remote, fetch, numbers, page

HERE = os.path.dirname(os.path.abspath(__file__))
RELEASES = ["11.8", "12.0", "12.1", "12.2", "12.3", "12.4", "12.5", "12.6", "12.8", "12.9", "13.0", "13.1", "13.2", "13.3", "13.4", "13.5"]
CCCL_SINCE = "12.4"  # wheels before have no libcu++, or one that this nvcc does not read
# Which parts are unpacked, and of which the list of members is enough: the name in the index, and in the table of versions.
UNPACKED = {"cuda-cccl": "cuda_cccl", "cuda-runtime": "cuda_cudart", "cuda-nvcc": "cuda_nvcc", "cuda-crt": "cuda_crt"}
LISTED = {"nvtx": "cuda_nvtx", "cuda-cupti": "cuda_cupti", "cuda-nvrtc": "cuda_nvrtc", "nvml-dev": "cuda_nvml_dev", "cuda-profiler-api": "cuda_profiler_api", "cublas": "libcublas",
          "cufft": "libcufft", "curand": "libcurand", "cusolver": "libcusolver", "cusparse": "libcusparse", "nvjitlink": "libnvjitlink",
          "nvvm": "libnvvm", "nvptxcompiler": "libnvptxcompiler", "nvfatbin": "libnvfatbin"}
# nvcc of CUDA 12 is in no wheel: what its release notes say of options, by the first release that has them.
DOCUMENTED = {"12.0": ["--std=c++20"], "12.8": ["--compress-mode", "-compress-mode"]}
COMPILER = ["nvidia-nvvm==13.0.88"]  # beside nvcc of 13.0: it compiles the CCCL of every release


def versions_of(release):
    """Project of the index, or archive's name for CUDA before 13, -> version in the newest patch release that versions.txt has of a minor."""
    source = "wheels" if numbers(release) >= (13,) else "redist"
    best, found, names = (), {}, None
    for line in open(f"{HERE}/../../recipes/knowledge/versions.txt"):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not line.startswith(" "):
            names = None
            if words[0] == source and words[2] == "documented" and words[1].startswith(release + "."):
                names = {}
                if numbers(words[1]) >= best:
                    best, found = numbers(words[1]), names
        elif names is not None:
            for name in words[1:]:
                names[name] = words[0]
    return found


def file_of(part, release, known):
    """The newest wheel of a part for this release, by the index's own page."""
    major = int(release.split(".")[0])
    project = f"nvidia-{part}" + ("" if major >= 13 else f"-cu{major}")
    try:
        files = page(project)
    except Exception:
        return None
    wanted = known.get(project) or known.get({**UNPACKED, **LISTED}[part]) or release
    prefix = release if major < 13 and part in UNPACKED else wanted
    hits = []
    for entry in files:
        match = re.fullmatch(r"[a-z0-9_]+-([\d.]+?)(?:\.post(\d+))?-py3-none-\S*linux\S*x86_64\.whl", entry["filename"])
        if match and (match[1] == prefix or match[1].startswith(prefix + ".")):
            hits.append(((numbers(match[1]), int(match[2] or 0)), entry))
    return max(hits, key=lambda hit: hit[0])[1] if hits else None


def download(entry, folder):
    path = f"{folder}/{entry['filename']}"
    if not os.path.exists(path):
        data = fetch(entry["url"])
        if hashlib.sha256(data).hexdigest() != entry["hashes"]["sha256"]:
            sys.exit(f"{entry['filename']}: the bytes are not those that the index names")
        open(path, "wb").write(data)
    return path


class Release:
    """One release, unpacked below FOLDER/RELEASE; `members` are paths below its include, lib and bin folders, of all parts."""

    def __init__(self, name, folder):
        self.name, self.root = name, f"{folder}/{name}"
        self.members, self.parts = set(), set()
        known = versions_of(name)
        for part in [*UNPACKED, *LISTED]:
            if entry := file_of(part, name, known):
                wheel = zipfile.ZipFile(download(entry, folder) if part in UNPACKED else Remote(entry["url"], entry["size"]))
                self.parts.add(part)
                self.members |= {short(path) for path in wheel.namelist()}
                if part in UNPACKED and not os.path.isdir(f"{self.root}/{part}"):
                    wheel.extractall(f"{self.root}/{part}")

    def include(self, part):
        """The folder that a build names with -I."""
        for top, folders, _ in os.walk(f"{self.root}/{part}"):
            if "include" in folders:
                inner = f"{top}/include/cccl"
                return inner if part == "cuda-cccl" and os.path.isdir(inner) else f"{top}/include"
        return None

    def help_of(self, tool):
        path = next((f"{top}/{tool}" for top, _, files in os.walk(f"{self.root}/cuda-nvcc") if tool in files and top.endswith("/bin")), None)
        if not path:
            return None
        os.chmod(path, 0o755)
        return subprocess.run([path, "--help"], capture_output=True, text=True).stdout


def short(path):
    """include/cub/cub.cuh of nvidia/cu13/include/cccl/cub/cub.cuh"""
    match = re.search(r"(?:^|/)(include|lib|lib64|bin)/(?:cccl/)?(.+)$", path)
    return f"{match[1]}/{match[2]}" if match else ""


def is_public(path):
    return not re.search(r"^crt/|(^|/)(_|detail/|nvtxDetail/|internal/|system/|dispatch/|agent/|\.)|experimental|\.inl$|test", path)


def headers(release):
    found = {path[8:] for path in release.members if path.startswith("include/")}
    return {path for path in found if is_public(path) and not path.endswith((".py", ".txt", ".md", ".hpp.in")) and (re.search(r"\.(h|hpp|cuh)$", path) or path.startswith(("cuda/", "nv/")))}


def libraries(release):
    """lib*.so without their versions; static ones are in the wheels of some releases alone, whether or not the release has them."""
    return {match[1] for path in release.members if (match := re.fullmatch(r"lib(?:64)?/(lib[A-Za-z0-9_]+\.so)[.\d]*", path))}


def options(text):
    """--long, -short and --long=value of a help text, where the values are listed."""
    found = set()
    for line in text.splitlines():
        if not (match := re.match(r"(--[A-Za-z][\w-]*)(?:\s+([<{\[][^()]*?[>}\]])(?:,\.\.\.)?)?\s+\((-[\w-]+)\)\s*$", line)):
            continue
        found |= {match[1], match[3]}
        if match[2] and match[2][0] in "{[":
            found |= {f"{match[1]}={value.strip()}" for value in re.split(r"[|,]", match[2][1:-1])}
    return found


def symbols(release):
    """What the runtime's and the compiler's headers declare: functions, types and intrinsics."""
    found = set()
    for part in ("cuda-runtime", "cuda-nvcc", "cuda-crt"):
        for top, _, files in os.walk(release.include(part) or "/nonexistent"):
            for file in files:
                if file.endswith((".h", ".hpp")):
                    text = macro_free(open(f"{top}/{file}", errors="replace").read())
                    found |= set(re.findall(r"\b(?:__(?:nv_|h|float|half|double|int|uint|bfloat|mm|viadd|vimax|vimin|vi)[a-z0-9]\w*|cuda[A-Z]\w*|cu[A-Z][a-z]\w*|nv[a-z]+[A-Z]\w*|tex\w+|surf\w+)(?=\s*[(;{<])", text))
    # plain words (texture, surface) are other people's names, too
    return {name for name in found if not name.endswith(("_ptsz", "_ptds", "_st")) and re.search(r"_|[A-Z]", name) and not name.startswith("__internal")}


def compiled(release, names, folder):
    """The names that the public headers of a release have, as nvcc sees them."""
    include = release.include("cuda-cccl")
    kept = f"{folder}/{release.name}.absent"
    if os.path.exists(kept):
        asked, _, absent = open(kept).read().partition("\n\n")
        if set(names) <= set(asked.split()):
            return set(names) - set(absent.split())
    compiler = f"{folder}/compiler/nvidia/cu13/bin/nvcc"
    public = sorted(path for path in headers(release) if path.startswith(("thrust/", "cub/", "cuda/")) and os.path.exists(f"{include}/{path}"))

    def errors(lines, also=""):
        source = f"{folder}/{release.name}.cu"
        open(source, "w").write("\n".join(lines) + "\n")
        done = subprocess.run([compiler, "-std=c++17", "-arch=sm_90", "-w", "-ptx", "-o", "/dev/null", "-DCCCL_DISABLE_CTK_COMPATIBILITY_CHECK", "-DCCCL_IGNORE_DEPRECATED_API", "-DTHRUST_IGNORE_DEPRECATED_API",
                               "-Xcudafe", "--error_limit=100000", "-I", include, source], capture_output=True, text=True,
                              env={k: v for k, v in os.environ.items() if k not in ("CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH")})
        return done.stdout + done.stderr

    def usable(some):
        text = errors([f"#include <{path}>" for path in some] + ["int x = cukit_no_such_name;"])
        others = [line for line in text.splitlines() if "error" in line and "cukit_no_such_name" not in line and "error detected" not in line]
        if not others and "cukit_no_such_name" in text:
            return some
        return [] if len(some) == 1 else usable(some[: len(some) // 2]) + usable(some[len(some) // 2 :])

    good = usable(public)
    print(f"{release.name}: {len(good)} of {len(public)} public headers of CCCL compile here", file=sys.stderr)
    first = len(good) + 1
    names = sorted(names)
    text = errors([f"#include <{path}>" for path in good] + [f"namespace check_{i} {{ using ::{name}; }}" for i, name in enumerate(names)] + ["int x = cukit_no_such_name;"])
    if "cukit_no_such_name" not in text or len(good) < len(public) / 2:
        sys.exit(f"{release.name}: the compiler stopped early: {text[-500:]}")
    absent = set()
    for line in re.findall(rf"{release.name}\.cu\((\d+)\): error: (?:namespace|name followed|the global scope has no)", text):
        if 0 <= int(line) - first < len(names):
            absent.add(names[int(line) - first])
    open(kept, "w").write("\n".join(names) + "\n\n" + "\n".join(sorted(absent)) + "\n")
    return set(names) - absent


def spans(by_release):
    """(first, last) -> names: `-` where a name is in the oldest, or in the newest, that was read. Names that came twice are left out."""
    result = {}
    order = list(by_release)
    for name in set().union(*by_release.values()):
        there = [release for release in order if name in by_release[release]]
        first, last = order.index(there[0]), order.index(there[-1])
        if last - first + 1 == len(there) and len(there) < len(order):
            result.setdefault((there[0] if first else "-", there[-1] if last + 1 < len(order) else "-"), []).append(name)
    return result


def emit(kind, evidence, by_release, note=lambda name: ""):
    print(f"{kind} {evidence} {' '.join(by_release)}")
    key = lambda item: [(0,) if bound == "-" else numbers(bound) for bound in item[0]]
    for (first, last), names in sorted(spans(by_release).items(), key=key):
        line = f"  {first} {last}"
        for word in (name + note(name) for name in sorted(names)):
            if len(line) + len(word) > 138:
                print(line)
                line = f"  {first} {last}"
            line += " " + word
        print(line)


def replacement(release):
    """What the last headers that have a name tell to use instead of it."""
    found = {}
    for top, _, files in os.walk(release.include("cuda-cccl")):
        library = next((name for name in ("thrust", "cub") if f"/include/{name}" in top or f"/cccl/{name}" in top), "cuda")
        for file in files:
            text = open(f"{top}/{file}", errors="replace").read()
            for name, other in re.findall(r"\b(\w+)\s+(?:CCCL|CUB|THRUST)_DEPRECATED_BECAUSE\(\"[Uu]se ([\w:]+) instead\"\)\s*(?:=|\{|:)", text):
                found[f"{library}::{name}"] = other
            for other, name in re.findall(r"(?:CCCL|CUB|THRUST)_DEPRECATED_BECAUSE\(\"[Uu]se ([\w:]+) instead\"\)\s*(?:typedef|struct|class|using)?\s*(\w+)\b", text):
                found[f"{library}::{name}"] = other
    return found


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    with ThreadPoolExecutor(8) as pool:
        releases = list(pool.map(lambda name: Release(name, folder), RELEASES))
    if not os.path.isdir(f"{folder}/compiler"):
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", f"{folder}/compiler", *COMPILER]
                       + [f"nvidia-{part}=={versions_of('13.0')['nvidia-' + part]}" for part in ("cuda-nvcc", "cuda-runtime")] + ["nvidia-cuda-crt==13.0.88"], check=True)
    print("# What came or went between releases of CUDA: `KIND EVIDENCE RELEASE...` names the releases that were read, then lines `FIRST LAST NAME...`,")
    print("# `-` where a name is in the oldest, or in the newest, of them. After = stands what NVIDIA's headers name instead. Kinds: cccl and symbol")
    print("# (C++ names of CCCL, of the toolkit's own headers), header, library, nvcc and ptxas (options, and --option=value). Made by make_names.py.")
    text = {release.name: declared(release.include("cuda-cccl")) for release in releases if numbers(release.name) >= numbers(CCCL_SINCE)}
    differing = {name for name in set().union(*text.values()) if sum(name in names for names in text.values()) < len(text)}
    seen = {}
    for release in releases:
        if release.name in text:
            seen[release.name] = compiled(release, differing, folder)
    agreed = {name for name in differing if all(name in seen[release] or name not in text[release] for release in seen)}
    print(f"{len(differing)} names differ, the compiler agrees with {len(agreed)}", file=sys.stderr)
    hints = {}
    for release in releases:
        if release.name in text:
            hints.update(replacement(release))
    emit("cccl", "tested", {name: names & agreed for name, names in seen.items()}, lambda name: f"={hints[name]}" if name in hints else "")
    emit("symbol", "tested", {release.name: symbols(release) for release in releases})
    whole = [release for release in releases if {"cuda-cccl", "cuda-runtime", "cuda-nvcc"} <= release.parts and numbers(release.name) >= numbers(CCCL_SINCE)]
    emit("header", "tested", {release.name: headers(release) for release in whole})
    emit("library", "tested", {release.name: libraries(release) for release in whole})
    for tool in ("nvcc", "ptxas"):
        texts = {release.name: release.help_of(tool) for release in releases}
        emit(tool, "tested", {name: options(text) for name, text in texts.items() if text})
    print(f"nvcc documented 11.8 {' '.join(DOCUMENTED)}")
    for release, names in DOCUMENTED.items():
        print(f"  {release} - {' '.join(names)}")


if __name__ == "__main__":
    main()
