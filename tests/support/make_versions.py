#!/usr/bin/env python3
"""Writes recipes/knowledge/versions.txt: which version of each component a release of CUDA holds, per source.

    make_versions.py MANIFESTS INDEX [TABLE] > recipes/knowledge/versions.txt

MANIFESTS: a folder with redistrib_X.Y.Z.json of the product cuda. INDEX: tests/data/resolve/index.tsv (the requirements of the
metapackages). TABLE: YAML with releases of which no manifest could be read; they are marked uncertain.
"""
import json
import re
import sys
from pathlib import Path

OLDEST = (11, 8)
REDIST_NAMES = {
    "nvcc": "cuda_nvcc", "crt": "cuda_crt", "nvvm": "libnvvm", "cudart": "cuda_cudart", "nvrtc": "cuda_nvrtc",
    "cupti": "cuda_cupti", "nvtx": "cuda_nvtx", "nvdisasm": "cuda_nvdisasm", "nvjitlink": "libnvjitlink",
    "cublas": "libcublas", "cufft": "libcufft", "curand": "libcurand", "cusolver": "libcusolver", "cusparse": "libcusparse",
}


def numbers(version):
    return tuple(int(p) for p in version.split("."))


def emit(source, release, date, evidence, components):
    by_version = {}
    for name, version in components.items():
        by_version.setdefault(version, []).append(name)
    print(" ".join(filter(None, [source, release, evidence, date])))
    for version in sorted(by_version, key=numbers):
        print("  " + version + " " + " ".join(sorted(by_version[version])))


def main():
    rows = {}
    for path in Path(sys.argv[1]).glob("redistrib_*.json"):
        release = path.stem.split("_", 1)[1]
        if numbers(release)[:2] >= OLDEST:
            manifest = json.loads(path.read_text())
            components = {k: c["version"] for k, c in manifest.items() if isinstance(c, dict)}
            rows[numbers(release), "redist"] = (release, manifest["release_date"], "documented", components)
    for line in Path(sys.argv[2]).read_text().splitlines():
        fields = line.split("\t")
        if fields[0] == "meta":
            release, components = fields[1], {}
            if re.fullmatch(r"[\d.]+", release):
                rows[numbers(release)[:3], "wheels"] = (".".join(release.split(".")[:3]), "", "documented", components)
        elif fields[0] == "requires":
            match = re.match(r"([a-z0-9-]+)==([\d.]+?)(?:\.\*)?;", fields[1])
            if match:
                components[match[1]] = match[2]
    if len(sys.argv) > 3:
        import yaml

        for entry in yaml.safe_load(Path(sys.argv[3]).read_text())["releases"]:
            release = entry["version"]
            if (numbers(release), "redist") in rows or numbers(release)[:2] < OLDEST:
                continue
            table = entry.get("components", {})
            components = {REDIST_NAMES[k]: v for k, v in table.items() if k in REDIST_NAMES}
            if "cccl_package" in table:
                components["cuda_cccl" if numbers(release) < (13, 3) else "cccl"] = table["cccl_package"]
            rows[numbers(release), "redist"] = (release, "", "uncertain", components)
    print("# What a release of CUDA holds in each source: `SOURCE RELEASE EVIDENCE [DATE]`, then lines `VERSION NAME...`. Names are those of")
    print("# the source. documented: read in NVIDIA's manifest or metapackage; uncertain: from a table of another's, not complete.")
    for (_, source), (release, date, evidence, components) in sorted(rows.items()):
        emit(source, release, date, evidence, components)


main()
