#!/usr/bin/env python3
"""Writes recipes/knowledge/pins.sha256: the digest of every wheel that a release of CUDA 13 known today consists of.

    make_pins.py FIRST LAST > recipes/knowledge/pins.sha256        e.g. 13.0 13.5

Lines are those of sha256sum: the digest, two spaces, the file name. Of the maths libraries, whose headers alone are taken, the
digest of RECORD stands there too, as "RECORD of FILE". The index's address is what this machine's pip has as its default, or the
variable CUKIT_INDEX_URL.
"""
import hashlib
import io
import json
import os
import re
import sys
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor

MATHS = {"nvidia-cublas", "nvidia-cufft", "nvidia-curand", "nvidia-cusolver", "nvidia-cusparse"}


def index_url():
    if os.environ.get("CUKIT_INDEX_URL"):
        return os.environ["CUKIT_INDEX_URL"].rstrip("/")
    from pip._internal.models.index import PyPI

    return PyPI.simple_url.rstrip("/")


def fetch(url, headers=None):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {})) as answer:
        return answer.read()


def page(project):
    body = fetch(f"{index_url()}/{project}/", {"Accept": "application/vnd.pypi.simple.v1+json"})
    return json.loads(body)["files"]


def numbers(version):
    parts = [int(p) for p in version.split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


class Remote(io.RawIOBase):
    """A file on a server, read by ranges, with the last megabyte kept."""

    def __init__(self, url, size):
        self.url, self.size, self.at = url, size, 0
        self.tail_at = max(0, size - (1 << 20))
        self.tail = self.range(self.tail_at, size)

    def range(self, first, end):
        return fetch(self.url, {"Range": f"bytes={first}-{end - 1}"})

    def seekable(self):
        return True

    def readable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=0):
        self.at = {0: 0, 1: self.at, 2: self.size}[whence] + offset
        return self.at

    def read(self, count=-1):
        end = self.size if count < 0 else min(self.size, self.at + count)
        data = self.tail[self.at - self.tail_at : end - self.tail_at] if self.at >= self.tail_at else self.range(self.at, end)
        self.at = end
        return data


def record_digest(entry):
    wheel = zipfile.ZipFile(Remote(entry["url"], entry["size"]))
    name = next(n for n in wheel.namelist() if n.endswith(".dist-info/RECORD"))
    return hashlib.sha256(wheel.read(name)).hexdigest()


def matches(version, spec):
    for clause in spec.split(","):
        operator, value = re.fullmatch(r"\s*(==|>=|<)\s*([\d.]+?)(?:\.\*)?\s*", clause).groups()
        have, want = numbers(version), numbers(value)
        if operator == "==" and have[: len(want)] != want:
            return False
        if operator == ">=" and have < want or operator == "<" and have >= want:
            return False
    return True


def main():
    first, last = (numbers(v) for v in sys.argv[1:3])
    wanted = {}
    lines = set()
    for entry in page("cuda-toolkit"):
        match = re.fullmatch(r"cuda_toolkit-([\d.]+)-py2\.py3-none-any\.whl", entry["filename"])
        if not match or entry.get("yanked") or not first <= numbers(match[1])[:2] <= last:
            continue
        lines.add((entry["filename"], entry["hashes"]["sha256"]))
        metadata = zipfile.ZipFile(io.BytesIO(fetch(entry["url"])))
        name = next(n for n in metadata.namelist() if n.endswith(".dist-info/METADATA"))
        for line in metadata.read(name).decode().splitlines():
            requirement = re.match(r"Requires-Dist: ([A-Za-z0-9-]+)\s*([^;\[]*)", line)
            if requirement and requirement[2].strip():
                wanted.setdefault(requirement[1], set()).add(requirement[2].strip())
    records = []
    with ThreadPoolExecutor(8) as pool:
        for project, files in zip(wanted, pool.map(page, wanted)):
            for entry in files:
                match = re.fullmatch(r"[a-z0-9_]+-([\d.]+)-py3-none-manylinux.*_(x86_64|aarch64)\.whl", entry["filename"])
                if not match or entry.get("yanked") or not any(matches(match[1], spec) for spec in wanted[project]):
                    continue
                lines.add((entry["filename"], entry["hashes"]["sha256"]))
                if project in MATHS:
                    records.append(entry)
        for entry, digest in zip(records, pool.map(record_digest, records)):
            lines.add((f"RECORD of {entry['filename']}", digest))
    for name, digest in sorted(lines):
        print(f"{digest}  {name}")


if __name__ == "__main__":
    main()
