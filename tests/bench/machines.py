"""Machines for the doctor to look at: a venv as pip leaves it, and a root folder with very many files."""
import os


def write(path, text=""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def torch_venv(prefix, distributions=60, files=20000):
    """torch and its companions: half of all files are torch's, as in a real one."""
    site = f"{prefix}/lib/python3.12/site-packages"
    write(f"{prefix}/pyvenv.cfg", "home = /usr/bin\n")
    write(f"{prefix}/bin/python")
    names = ["torch", "triton", "torchvision", "nvidia_cuda_runtime", "nvidia_cuda_nvrtc", "nvidia_nvjitlink"]
    names += [f"package_{n}" for n in range(distributions - len(names))]
    for name in names:
        version = {"torch": "2.11.0+cu130", "triton": "3.6.0"}.get(name, "13.0.96")
        info = f"{name}-{version}.dist-info"
        owned = [f"{name}/part{n % 40}/file{n}.py" for n in range(files // 2 if name == "torch" else files // 2 // distributions)]
        for path in owned:
            write(f"{site}/{path}")
        needs = "".join(f"Requires-Dist: package-{n}>=1\n" for n in range(10))
        write(f"{site}/{info}/METADATA", f"Metadata-Version: 2.4\nName: {name.replace('_', '-')}\nVersion: {version}\n{needs}")
        write(f"{site}/{info}/RECORD", "".join(f"{path},sha256={'x' * 43},0\n" for path in owned) + f"{info}/RECORD,,\n")
    write(f"{site}/torch/version.py", "__version__ = '2.11.0+cu130'\ncuda = '13.0'\n")


def crowded_root(root, files=200000):
    """What an image holds besides: files that the doctor has no reason to look at."""
    write(f"{root}/etc/os-release", 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')
    for folder in range(files // 1000):
        where = f"{root}/{('usr/lib', 'usr/share', 'opt', 'home/ada', 'usr/local/lib')[folder % 5]}/folder{folder}"
        os.makedirs(where)
        for n in range(1000):
            os.close(os.open(f"{where}/libfile{n}.so", os.O_CREAT | os.O_WRONLY))
