#!/usr/bin/env python3
"""Makes tests/data/redist/manifests.txt out of NVIDIA's manifests, so that tests read the real ones in a form of ours.

    make_manifests.py FOLDER >tests/data/redist/manifests.txt

FOLDER holds PRODUCT/redistrib_LABEL.json. What is for Windows and the MD5 sums are left out. Lines, their fields parted by tabs:

    = product  label  release_date  says     says: `yes` when the manifest names its product and label itself
    component  version  name  licence  licence's path  variants (with commas)
    +platform  variant  size  sha256 (base64)  path, when it is not COMPONENT/PLATFORM/COMPONENT-PLATFORM-VERSION[_VARIANT]-archive.tar.xz
"""
import base64
import json
import sys
from pathlib import Path


def lines_of(product, manifest, label):
    yield ["= " + product, label, manifest.get("release_date", ""), "yes" if "release_label" in manifest else ""]
    for name, one in manifest.items():
        if not isinstance(one, dict):
            continue
        yield [name, one["version"], one["name"], one["license"], one.get("license_path", ""), ",".join(one.get("cuda_variant", []))]
        for platform, files in one.items():
            if not isinstance(files, dict) or platform.startswith("windows"):
                continue
            for variant, file in {"": files}.items() if "relative_path" in files else files.items():
                usual = f"{name}/{platform}/{name}-{platform}-{one['version']}{'_' if variant else ''}{variant}-archive.tar.xz"
                path = file["relative_path"]
                digest = base64.b64encode(bytes.fromhex(file["sha256"])).decode()
                yield ["+" + platform, variant, file["size"], digest, "" if path == usual else path]


for folder in sorted(p for p in Path(sys.argv[1]).iterdir() if p.is_dir()):
    for file in sorted(folder.glob("redistrib_*.json")):
        for fields in lines_of(folder.name, json.loads(file.read_text()), file.stem.removeprefix("redistrib_")):
            print("\t".join(fields).rstrip("\t"))
