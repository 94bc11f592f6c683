#!/usr/bin/env python3
"""Holds a changed cukit against the one before: the same inputs, then every exit code, lock, text and finding compared.

    compare.py record BINARY FOLDER [--count N] [--seed N] [--redist FOLDER] [--cases FOLDER]
    compare.py check  BINARY FOLDER

`record` makes N manifests with facts about a machine (GPUs, driver, host compiler), locks each with BINARY and keeps what it said; answers of the
index are kept too, so that `check` needs no network and a new upload changes nothing. --redist is a folder of NVIDIA's manifests. --cases holds
snapshots for the doctor: NAME.json, and beside it NAME.log and NAME.args (an argument a line) where there are any; unit_doctor writes them with
CUKIT_KEEP_SCENES=FOLDER. `check` prints each difference and exits 1 when there is one.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

SIMPLE = "application/vnd.pypi.simple.v1+json"


class Index(ThreadingHTTPServer):
    """The upstream index on loopback; each answer is asked for once and kept in a file."""
    daemon_threads = True

    def __init__(self, folder, upstream):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.upstream, self.lock = folder, upstream, threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, path):
        kept = self.folder / quote(path, safe="")[-200:]
        with self.lock:
            if not kept.exists():
                kept.write_bytes(self.fetch(path))
        return kept.read_bytes()

    def fetch(self, path):
        if self.upstream is None:
            return b""
        url = unquote(path.removeprefix("/file/").rsplit("/", 1)[0]) if path.startswith("/file/") else f"{self.upstream}{path.removeprefix('/simple')}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": f"{SIMPLE}, */*;q=0.1"})) as reply:
                body, final = reply.read(), reply.geturl()
        except urllib.error.HTTPError:
            return b""
        if path.startswith("/file/"):
            return body
        page = json.loads(body)
        for file in page["files"]:
            file["url"] = f"/file/{quote(urljoin(final, file['url']), safe='')}/{file['filename']}"
            # A server may read a folder's wheels without their metadata beside them: one way for all.
            file.pop("core-metadata", None), file.pop("data-dist-info-metadata", None)
        return json.dumps(page).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):  # the program had what it wanted
            self.close_connection = True

    def do_GET(self):
        body = self.server.answer(self.path)
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        size = len(body)
        if found and body:
            first, last = found.groups()
            begin = int(first) if first else max(0, size - int(last))
            end = min(size, int(last) + 1) if first and last else size
            self.reply(206, body[begin:end], [("Content-Range", f"bytes {begin}-{end - 1}/{size}")])
        else:
            self.reply(200 if body else 404, body, [])

    do_HEAD = do_GET

    def reply(self, status, body, headers):
        self.send_response(status)
        kind = SIMPLE if self.path.startswith("/simple") else "application/octet-stream"
        for key, value in [("Content-Type", kind), ("Content-Length", str(len(body))), ("Accept-Ranges", "bytes"), *headers]:
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class Wishes:
    """Random manifests of which most are sensible, out of what the binary says that it knows."""

    def __init__(self, binary, seed):
        ask = lambda what: json.loads(subprocess.run([binary, "--json", what], capture_output=True, check=True).stdout)
        self.random = random.Random(seed)
        self.gpus = ask("gpus")["gpus"]
        self.releases = [one["cuda"] for one in ask("releases")["releases"]]
        recipes = Path(__file__).parents[2] / "recipes"
        self.consumers = sorted(file.stem for file in (recipes / "consumers").glob("*.yaml"))
        self.components = sorted(file.stem for file in (recipes / "components").glob("*.yaml"))
        self.torches = ["2.5.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.99.0"]

    def maybe(self, chance):
        return self.random.random() < chance

    def some(self, values, most):
        return self.random.sample(values, min(len(values), self.random.randint(1, most)))

    def gpu(self):
        usual = [one for one in self.gpus if one["compute_capability"] in ("8.0", "8.6", "8.9", "9.0", "10.0", "12.0")]
        pool = self.gpus if self.maybe(0.3) else usual
        one = self.random.choice(pool)
        if one["products"] and self.maybe(0.15):
            return json.dumps(self.random.choice(one["products"]))
        letters = [letter for letter in "af" if one[letter + "_since"]] or ([""] if self.maybe(0.9) else ["a"])
        letter = self.random.choice(letters) if self.maybe(0.25) else ""
        return one["target"] + letter if self.maybe(0.8) else json.dumps(one["compute_capability"] + letter)

    def version(self):
        release = self.random.choice(self.releases if self.maybe(0.3) else [one for one in self.releases if one >= "12.8"])
        form = self.random.choice(["{}", ">={}", "<={}", ">={},<14", "=={}.*"] if self.maybe(0.9) else ["{}.1", "~={}", "^{}"])
        return json.dumps(form.format(release))

    def manifest(self, name):
        lines = ["cukit: 1", f"name: {name}"]
        native = self.maybe(0.1)
        lines.append("gpus: native" if native else f"gpus: [{', '.join(self.gpu() for _ in range(self.random.choice([1, 1, 1, 2, 3])))}]")
        tag = self.random.choice(["cu118", "cu121", "cu124", "cu126", "cu128", "cu129", "cu130", "cu132"] + ["cu128", "cu130"] * 4)
        if self.maybe(0.75):
            lines.append("pytorch: " + (tag if self.maybe(0.6) else f"{self.random.choice(self.torches)}+{tag}"))
        if self.maybe(0.4):
            lines.append(f'driver: {self.random.choice(["native", chr(34) + ">=" + self.random.choice(["450", "525", "535", "550", "570", "575", "580", "590", "610"]) + chr(34)])}')
        toolkit = [f"  {part}: {self.version()}" for part, chance in (("nvcc", 0.2), ("ptxas", 0.12), ("headers", 0.06), ("cccl", 0.04)) if self.maybe(chance)]
        if toolkit:
            lines += ["toolkit:", *toolkit]
        if self.maybe(0.3):
            lines.append(f"components: [{', '.join(['core'] + self.some(self.components, 3))}]")
        if self.maybe(0.7):
            lines.append(f"consumers: [{', '.join(self.some(self.consumers, 3))}]")
        if self.maybe(0.3):
            lines.append("host: {compiler: " + self.random.choice(["gcc", "gcc", "clang", "gcc-11", "gcc-15", "nothing"]) + "}")
        if self.maybe(0.4):
            lines.append("platforms: " + self.random.choice(["[linux-x86_64]"] * 3 + ["[linux-sbsa]", "[linux-x86_64, linux-sbsa]", "[linux-aarch64]"]))
        if self.maybe(0.3):
            lines.append("sources: " + self.random.choice(["[wheels]", "[redist]", "[redist, wheels]", "[wheels, redist]"]))
        if self.maybe(0.03):
            lines.append(self.random.choice(["gpu: sm_90", "cukit: 1", "platforms: linux", "driver: 580", "toolkit: 13.0", "consumers: []"]))
        return "\n".join(lines) + "\n"

    def case(self, name):
        manifest, arguments = self.manifest(name), []
        if self.maybe(0.9 if "driver: native" in manifest else 0.02):
            arguments += ["--assume-driver", self.random.choice(["470.82", "525.60.13", "535.104", "550.54.14", "570.86.10", "580.95.05", "610.1"])]
        if self.maybe(0.9 if "gpus: native" in manifest else 0.02):
            arguments += ["--assume-gpu", self.gpu().strip('"')]
        return {"manifest": manifest, "arguments": arguments, "gcc": self.random.choice(["9.4.0", "11.4.0", "12.2.0", "13.3.0", "14.2.0", "15.1.0", "16.1.0"])}


def fake_compilers(folder, version):
    folder.mkdir(parents=True, exist_ok=True)
    for name, banner in ((f"g++", "Copyright (C) Free Software Foundation, Inc."), ("clang++", "clang version 18.1.3"), ("g++-11", "Free Software Foundation")):
        says = "18.1.3" if "clang" in name else "11.4.0" if name.endswith("11") else version
        program = folder / name
        program.write_text(f"#!/bin/sh\ncase $1 in --version) echo '{name} {banner}';; *) echo {says};; esac\n")
        program.chmod(0o755)


def said(binary, arguments, folder, environment):
    done = subprocess.run([binary, *arguments], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL)
    return {"exit": done.returncode, "out": done.stdout.decode(errors="replace"), "err": done.stderr.decode(errors="replace")}


def lock_answers(binary, case, folder, home, index, redist):
    environment = {"PATH": str(home / f"compilers-{case['gcc']}"), "HOME": str(home), "CUKIT_SYSTEM_HOME": "none", "CUKIT_HOME": str(home / "cukit")}
    folder.mkdir(parents=True)
    (folder / "m.yaml").write_text(case["manifest"])
    options = ["--index-url", index] + (["--redist-url", redist] if redist else [])
    answers = {"lock": said(binary, ["--progress", "none", "lock", "m.yaml", *options, *case["arguments"]], folder, environment)}
    lock = folder / "m.lock.yaml"
    answers["bytes"] = lock.read_text() if lock.exists() else None
    if lock.exists():
        answers["explain"] = said(binary, ["--json", "lock", "--explain", "m.yaml", *options, *case["arguments"]], folder, environment)
        answers["check"] = said(binary, ["lock", "--check", "m.yaml", *options], folder, environment)
        for word in ("nvcc", "ptxas"):
            answers[f"why {word}"] = said(binary, ["why", word, "m.lock.yaml"], folder, environment)
    shutil.rmtree(folder)
    return json.loads(json.dumps(answers).replace(str(folder), "FOLDER").replace(index, "INDEX"))


def doctor_answers(binary, case):
    options = ["doctor", "--from", f"{case}.json"]
    log, arguments = Path(f"{case}.log"), Path(f"{case}.args")
    options += ["--log", str(log)] if log.exists() else []
    options += arguments.read_text().split("\n")[:-1] if arguments.exists() else []
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    return {"text": said(binary, options, "/", environment), "json": said(binary, ["--json", *options], "/", environment)}


def answers_of(binary, folder, upstream):
    """name -> what the binary answers, for all inputs of the folder"""
    inputs = json.loads((folder / "inputs.json").read_text())
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    for version in {case["gcc"] for case in inputs["cases"].values()}:
        fake_compilers(work / f"compilers-{version}", version)
    server = Index(folder / "index", upstream)
    index = f"http://127.0.0.1:{server.server_address[1]}/simple"
    result = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        locks = {name: pool.submit(lock_answers, binary, case, work / name, work, index, inputs["redist"]) for name, case in inputs["cases"].items()}
        found = sorted(Path(inputs["snapshots"]).glob("*.json")) if inputs["snapshots"] else []
        doctors = {file.stem: pool.submit(doctor_answers, binary, file.with_suffix("")) for file in found}
        for name, task in {**locks, **doctors}.items():
            result[name] = task.result()
    shutil.rmtree(work)
    return result


def record(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    wishes = Wishes(options.binary, options.seed)
    cases = {f"m{number:05}": wishes.case(f"m{number:05}") for number in range(options.count)}
    redist, snapshots = (str(path.resolve()) if path else None for path in (options.redist, options.cases))
    (options.folder / "inputs.json").write_text(json.dumps({"cases": cases, "redist": redist, "snapshots": snapshots}, indent=1))
    answers = answers_of(options.binary, options.folder, options.index.rstrip("/"))
    (options.folder / "answers.json").write_text(json.dumps(answers, indent=1))
    locked = sum(1 for one in answers.values() if one.get("bytes"))
    print(f"{len(answers)} inputs kept: {len(cases)} manifests, of which {locked} lock; {len(answers) - len(cases)} snapshots")
    return 0


def check(options):
    before = json.loads((options.folder / "answers.json").read_text())
    after = answers_of(options.binary, options.folder, None)
    differing = [name for name in before if before[name] != after.get(name)]
    for name in differing[:50]:
        for what, answer in before[name].items():
            now = after.get(name, {}).get(what)
            if now != answer:
                print(f"{name}: {what}\n  before: {json.dumps(answer)[:1500]}\n  now:    {json.dumps(now)[:1500]}")
    print(f"{len(before)} inputs, {len(differing)} answered differently")
    return 1 if differing else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "check"])
    parser.add_argument("binary", type=lambda text: str(Path(text).resolve()))
    parser.add_argument("folder", type=lambda text: Path(text).resolve())
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", default=os.environ.get("CUKIT_INDEX_URL") or os.environ.get("PIP_INDEX_URL"), help="the index to record; default: CUKIT_INDEX_URL, PIP_INDEX_URL")
    parser.add_argument("--redist", type=Path)
    parser.add_argument("--cases", type=Path)
    options = parser.parse_args()
    if options.what == "record" and not options.index:
        parser.error("name the index to record with --index")
    return record(options) if options.what == "record" else check(options)


sys.exit(main())
