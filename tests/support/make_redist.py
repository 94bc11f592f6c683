#!/usr/bin/env python3
"""Makes a tree of redistributables as NVIDIA's host has it, out of NVIDIA's wheels, so that a loopback server can serve one.

    make_redist.py WHEELS BASE LABEL [--nvcc VERSION] [--platform linux-x86_64] [--level 1]

WHEELS: a folder of wheels of CUDA 13. BASE gets cuda/redist/redistrib_LABEL.json and cuda/redist/<component>/<platform>/*.tar.xz.
Of each component the newest wheel with nvcc's minor is taken (--nvcc chooses the minor). LABEL must be one that cukit has no
digest of (13.0.99), since these archives are not NVIDIA's.

As in NVIDIA's archives: one top folder named like the file, LICENSE in it, read-only files, chains of links for shared
libraries, nvvm/ below its own folder, lib/stubs/libcuda.so without its .so.1, and pkg-config/*.pc with an absolute root.
"""
import argparse
import concurrent.futures
import hashlib
import io
import json
import lzma
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

NAMES = {
    "nvidia_cuda_nvcc": "cuda_nvcc", "nvidia_cuda_crt": "cuda_crt", "nvidia_nvvm": "libnvvm", "nvidia_cuda_runtime": "cuda_cudart",
    "nvidia_cuda_cccl": "cuda_cccl", "nvidia_cuda_culibos": "cuda_culibos", "nvidia_cuda_nvrtc": "cuda_nvrtc",
    "nvidia_nvjitlink": "libnvjitlink", "nvidia_nvptxcompiler": "libnvptxcompiler", "nvidia_nvfatbin": "libnvfatbin",
    "nvidia_cuda_cuobjdump": "cuda_cuobjdump", "nvidia_cuda_nvdisasm": "cuda_nvdisasm", "nvidia_nvtx": "cuda_nvtx",
    "nvidia_cuda_profiler_api": "cuda_profiler_api", "nvidia_nvml_dev": "cuda_nvml_dev", "nvidia_cuda_cupti": "cuda_cupti",
}
MACHINES = {"linux-x86_64": "x86_64", "linux-sbsa": "aarch64"}
PC = "cudaroot=/usr/local/cuda-{minor}\nlibdir=${{cudaroot}}/targets/x86_64-linux/lib{stubs}\nincludedir=${{cudaroot}}/targets/x86_64-linux/include\n\n" \
     "Name: {name}\nDescription: {text}\nVersion: {minor}\nLibs: -L${{libdir}} -l{name}\nCflags: -I${{includedir}}\n"


def numbers(version):
    return tuple(int(p) for p in version.split("."))


def choose(folder, machine, minor):
    """Project -> (version, path), one for each component that a wheel of the folder gives."""
    found = {}
    for path in sorted(Path(folder).glob("*.whl")):
        match = re.fullmatch(r"([a-z0-9_]+)-([\d.]+)-py3-none-\S+_(x86_64|aarch64)\.whl", path.name)
        if not match or match[1] not in NAMES or match[3] != machine:
            continue
        version = match[2]
        if match[1] != "nvidia_cuda_cccl" or numbers(version)[1] < 3:
            if numbers(version)[:2] != numbers(minor)[:2]:
                continue
        elif numbers(minor)[1] < 3:
            continue
        if match[1] not in found or numbers(found[match[1]][0]) < numbers(version):
            found[match[1]] = (version, path)
    return found


def place(name, component):
    """Where a file of a wheel lies in an archive."""
    if component == "libnvvm":
        if name.startswith("include/"):
            return "nvvm/" + name
        if name.startswith("lib/"):
            return "nvvm/lib64/" + name[4:]
    return re.sub(r"^(cuda_cccl|cccl)/lib/", "lib/", name)


def stub():
    """A libcuda.so to link with; empty where there is no compiler."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "stub.c"), Path(folder, "libcuda.so")
        source.write_text("int cuInit(unsigned flags) { (void)flags; return 34; }\n")
        command = ["gcc", "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libcuda.so.1", "-o", str(library), str(source)]
        try:
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError):
            return b""
        return library.read_bytes()


def content(component, version, path):
    """Path -> bytes, or a str that is the target of a link."""
    files = {}
    wheel = zipfile.ZipFile(path)
    for name in wheel.namelist():
        if name.startswith("nvidia/cu13/") and not name.endswith(("/", "__init__.py")):
            files[place(name[len("nvidia/cu13/"):], component)] = wheel.read(name)
        elif re.search(r"\.dist-info/licenses/|\.dist-info/LICENSE", name):
            files["LICENSE"] = wheel.read(name)
    for name in [n for n in files if re.search(r"\.so\.\d+$", n)]:
        full = name + version[len(version.split(".")[0]):]
        files[full] = files.pop(name)
        files[name] = full.split("/")[-1]
        files[re.sub(r"\.so\..*", ".so", name)] = name.split("/")[-1]
    if component == "cuda_cudart":
        minor = ".".join(version.split(".")[:2])
        if bytes_of_stub := stub():
            files["lib/stubs/libcuda.so"] = bytes_of_stub
        files[f"pkg-config/cuda-{minor}.pc"] = PC.format(minor=minor, name="cuda", text="CUDA Driver Library", stubs="/stubs").encode()
        files[f"pkg-config/cudart-{minor}.pc"] = PC.format(minor=minor, name="cudart", text="CUDA Runtime Library", stubs="").encode()
    return files


def write_archive(path, top, files, level):
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wb", preset=level) as stream, tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        folders = {top} | {f"{top}/{parent}" for name in files for parent in map(str, Path(name).parents) if parent != "."}
        for folder in sorted(folders):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{top}/{name}")
            if isinstance(data, str):
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, data, 0o777
                archive.addfile(entry)
                continue
            entry.mode = 0o555 if data[:4] == b"\x7fELF" or data[:2] == b"#!" else 0o444
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def make_component(folder, options, component, version, path):
    """Writes one archive and returns what the manifest says of it."""
    top = f"{component}-{options.platform}-{version}-archive"
    relative = f"{component}/{options.platform}/{top}.tar.xz"
    write_archive(folder / relative, top, content(component, version, path), options.level)
    data = (folder / relative).read_bytes()
    return {"name": component, "license": "CUDA Toolkit", "license_path": f"{component}/LICENSE.txt", "version": version,
            options.platform: {"relative_path": relative, "sha256": hashlib.sha256(data).hexdigest(),
                               "md5": hashlib.md5(data).hexdigest(), "size": str(len(data))}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheels")
    parser.add_argument("base", type=Path)
    parser.add_argument("label")
    parser.add_argument("--nvcc", help="the minor of nvcc; by default the label's")
    parser.add_argument("--platform", default="linux-x86_64", choices=MACHINES)
    parser.add_argument("--level", type=int, default=1, help="of xz")
    options = parser.parse_args()
    found = choose(options.wheels, MACHINES[options.platform], options.nvcc or options.label)
    if "nvidia_cuda_nvcc" not in found:
        sys.exit(f"{options.wheels} holds no nvcc of {options.nvcc or options.label}")
    folder = options.base / "cuda" / "redist"
    manifest = {"release_date": "2025-01-01", "release_label": options.label, "release_product": "cuda"}
    with concurrent.futures.ProcessPoolExecutor() as pool:  # xz takes nearly all of the time
        described = {NAMES[project]: pool.submit(make_component, folder, options, NAMES[project], version, path)
                     for project, (version, path) in sorted(found.items())}
        manifest.update((component, one.result()) for component, one in described.items())
    (folder / f"redistrib_{options.label}.json").write_text(json.dumps(manifest, indent=4))


if __name__ == "__main__":
    main()
