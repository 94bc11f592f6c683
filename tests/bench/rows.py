"""What is measured. Each function adds its rows to the table; `Bench` holds what they share."""
import os
import re
import shutil
import statistics
import subprocess
import sys
import zipfile
from base64 import urlsafe_b64encode
from hashlib import sha256

from machines import crowded_root, torch_venv
from measure import Missing, Pair, settle, timed

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Server:
    """The loopback index in a process of its own."""

    def __init__(self, folder, delay=0.0, prefix=(), static=None):
        command = [*prefix, sys.executable, f"{HERE}/index_server.py", folder, "--delay", str(delay)]
        self.child = subprocess.Popen(command + (["--static", static] if static else []), stdout=subprocess.PIPE, text=True)
        self.url = self.child.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()


class Bench:
    def __init__(self, cukit, scratch, wheels_folder, pairs, table):
        self.cukit, self.scratch, self.pairs, self.table = cukit, scratch, pairs, table
        self.folder = wheels_folder
        self.extract = os.path.join(os.path.dirname(cukit), "..", "tests", "bench", "extract_bench")
        self.manifest = self.copy("sixteen")
        environment = dict(os.environ, CUKIT_HOME=f"{scratch}/home")
        subprocess.run([cukit, "lock", self.manifest], env=environment, check=True, stdout=subprocess.DEVNULL)
        self.lock = open(f"{scratch}/sixteen.lock.yaml", encoding="utf-8").read()
        self.wheels = self.cached(re.findall(r"file: (\S+\.whl)", self.lock))
        self.bytes = sum(os.path.getsize(w) for w in self.wheels)

    def copy(self, name):
        target = f"{self.scratch}/{name}.yaml"
        shutil.copy(f"{HERE}/sixteen.yaml", target)
        return target

    def manifest_with(self, name, lock):
        """The same manifest beside another lock."""
        with open(f"{self.scratch}/{name}.lock.yaml", "w", encoding="utf-8") as out:
            out.write(lock)
        return self.copy(name)

    def cached(self, files):
        os.makedirs(self.folder, exist_ok=True)
        for file in files:
            if not os.path.exists(f"{self.folder}/{file}"):
                name, version, tag = re.fullmatch(r"([a-z0-9_]+)-([\d.]+)-py3-none-(\S+)\.whl", file).groups()
                subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--platform",
                                tag.split(".")[-1], "-d", self.folder, f"{name.replace('_', '-')}=={version}"], check=True)
        only = f"{self.scratch}/wheels"  # the index serves these sixteen and nothing else
        os.makedirs(only)
        for file in files:
            try:
                os.link(f"{self.folder}/{file}", f"{only}/{file}")
            except OSError:
                shutil.copy(f"{self.folder}/{file}", f"{only}/{file}")
        return [f"{only}/{file}" for file in files]

    def served(self, **options):
        return Server(f"{self.scratch}/wheels", **options)

    def environment(self, home, **more):
        clean = {k: v for k, v in os.environ.items() if not re.match(r"(UV|PIP|CUKIT)_|https?_proxy|HTTPS?_PROXY", k)}
        return dict(clean, CUKIT_HOME=f"{self.scratch}/{home}", **more)

    def build(self, home, url, *options, manifest=None, command="build"):
        return [self.cukit, command, "--frozen", "-q", "--index-url", url, *options, manifest or self.manifest], self.environment(home)

    def uv(self, target, cache, url):
        pins = [f"{n.replace('_', '-')}=={v}" for n, v in (os.path.basename(w).split("-")[:2] for w in self.wheels)]
        command = ["uv", "pip", "install", "-q", "--no-deps", "--no-config", "--index-url", f"{url}/simple", "--target",
                   f"{self.scratch}/{target}", *pins]
        return command, self.environment("home", UV_CACHE_DIR=f"{self.scratch}/{cache}", UV_LINK_MODE="hardlink")

    @staticmethod
    def need(*programs):
        for program in programs:
            if not shutil.which(program):
                raise Missing(f"{program} is not installed")


NORMAL = ("--durability", "normal")


def extraction(b):
    b.need("uv")
    with b.served() as server:
        pair = Pair(lambda n: timed([b.extract, f"{b.scratch}/x{n}", *b.wheels]),
                    lambda n: timed(*b.uv(f"xuv{n}", f"xcache{n}", server.url)), b.pairs, b.wheels)
    b.table.add("extract sixteen wheels: audit, inflate, hash, write", "uv pip install, cold cache", pair.ratio, 0.9, spread=pair.spread)
    b.table.add("peak memory of that", "-", pair.peak / 1024, 100, "MB")


def cold_build(b):
    b.need("uv")
    with b.served() as server:
        pair = Pair(lambda n: timed(*b.build(f"cold{n}", f"{server.url}/simple", *NORMAL)),
                    lambda n: timed(*b.uv(f"uv{n}", f"cache{n}", server.url)), b.pairs, b.wheels)
    b.table.add("cold build of a tree from a loopback index", "uv pip install, same index, cold cache", pair.ratio, 0.7, spread=pair.spread)
    b.table.add("peak memory of that", "-", pair.peak / 1024, 100, "MB")


def cold_build_floor(b):
    with b.served() as server:
        pair = Pair(lambda n: timed(*b.build(f"floor{n}", f"{server.url}/simple", *NORMAL)),
                    lambda n: timed([b.extract, f"{b.scratch}/floor-x{n}", *b.wheels]), b.pairs, b.wheels)
    b.table.add("cold build of a tree from a loopback index", "igzip + sha256 + write, no network", pair.ratio, 1.2, spread=pair.spread)


def durability(b):
    with b.served() as server:
        def normal_then_sync(n):
            command, env = b.build(f"normal{n}", f"{server.url}/simple", *NORMAL)
            return timed(["sh", "-c", '"$@" && sync -f "$CUKIT_HOME"', "sh", *command], env)

        pair = Pair(lambda n: timed(*b.build(f"full{n}", f"{server.url}/simple", "--durability", "full")), normal_then_sync, b.pairs, b.wheels)
    b.table.add("cold build with durability full", "durability normal, then one syncfs", pair.ratio, 1.15, spread=pair.spread)


def second_tree(b):
    b.need("uv")
    with b.served() as server:
        first = b.build("warm", f"{server.url}/simple", *NORMAL)
        subprocess.run(first[0], env=first[1], check=True, stdout=subprocess.DEVNULL)
        seed = b.uv("warm-uv", "warm-cache", server.url)
        subprocess.run(seed[0], env=seed[1], check=True)
        locks = iter(range(1000))

        def ours(_):
            # The release's last number is part of a tree's identity: another tree of the same content each time.
            n = next(locks)
            lock = re.sub(r'(?m)^release: "(\d+\.\d+)\.\d+"', rf'release: "\1.{100 + n}"', b.lock)
            return timed(*b.build("warm", f"{server.url}/simple", *NORMAL, manifest=b.manifest_with(f"second{n}", lock)))

        pair = Pair(ours, lambda n: timed(*b.uv(f"warm-uv{n}", "warm-cache", server.url)), b.pairs, warm=True)
    b.table.add("second tree that shares all content", "uv pip install, warm cache", pair.ratio, 0.5, spread=pair.spread)
    b.table.add("peak memory of that", "-", pair.peak / 1024, 100, "MB")


def nothing_to_do(b):
    b.need("uv")
    with b.served() as server:
        venv = f"{b.scratch}/venv"
        subprocess.run(["uv", "venv", "-q", "--no-config", venv], check=True, env=b.environment("home"))
        into = ["uv", "pip", "install", "-q", "--no-deps", "--no-config", "--index-url", f"{server.url}/simple", "--python", venv]
        pins = [f"{n.replace('_', '-')}=={v}" for n, v in (os.path.basename(w).split("-")[:2] for w in b.wheels)]
        env = b.environment("home", UV_CACHE_DIR=f"{b.scratch}/nothing-cache")
        subprocess.run(into + pins, check=True, env=env)
        up = [b.cukit, "up", "--no-validate", "--index-url", f"{server.url}/simple", b.manifest]
        subprocess.run(up, env=b.environment("nothing"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ratios, ours = [], []
        for _ in range(4 * b.pairs):
            a, _ = timed(up, b.environment("nothing"))
            peer, _ = timed(into + pins, env)
            ours.append(a)
            ratios.append(a / peer)
    b.table.add("up with nothing to do", "uv pip install with nothing to do", statistics.median(ratios), 0.7,
                spread=(min(ratios), max(ratios)))
    b.table.add("up with nothing to do, median", "20 ms", statistics.median(ours) * 1000, 20, "ms")


def slow_line(b):
    """200 Mbit/s by a token bucket on the loopback of a network namespace; 30 ms before each answer, by the server."""
    b.need("tc", "ip", "unshare")
    script = ('ip link set lo up && tc qdisc add dev lo root tbf rate 200mbit burst 128k latency 400ms || exit 77\n'
              f'exec "{sys.executable}" "{HERE}/slow_line.py" "$@"')
    times = []
    for number in range(max(2, b.pairs // 2)):
        settle(b.wheels)
        command, env = b.build(f"line{number}", "URL/simple", *NORMAL)
        done = subprocess.run(["unshare", "-n", "sh", "-c", script, "sh", f"{b.scratch}/wheels", *command], env=env, text=True,
                              stdout=subprocess.PIPE, check=False)
        if done.returncode == 77 or (done.returncode and os.geteuid() != 0):
            raise Missing("no network namespace with a token bucket can be made here")
        if done.returncode:
            sys.exit(f"the build over a slow line failed ({done.returncode})")
        times.append(float(done.stdout.split()[-1]))
    floor = b.bytes / (200e6 / 8)
    b.table.add("cold build over 200 Mbit/s, 30 ms", "bytes / bandwidth", statistics.median(times) / floor, 1.1,
                spread=(min(times) / floor, max(times) / floor))


def verification(b):
    with b.served() as server:
        command, env = b.build("verify", f"{server.url}/simple", *NORMAL, command="build")
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    tree = f"{b.scratch}/verify/trees/{os.listdir(f'{b.scratch}/verify/trees')[0]}"
    hashing = f'find "{tree}" -type f -print0 | xargs -0 -n 32 -P 2 sha256sum >/dev/null'
    pair = Pair(lambda n: timed([b.cukit, "verify", "-q", tree], env), lambda n: timed(["sh", "-c", hashing]), b.pairs)
    b.table.add("verify of a tree", "sha256sum over its files, two at once", pair.ratio, 0.6, spread=pair.spread)
    b.table.add("peak memory of that", "-", pair.peak / 1024, 100, "MB")


def archives(b):
    """The same content as tar.xz archives in NVIDIA's layout."""
    b.need("xz", "tar")
    redist = f"{b.scratch}/redist"
    subprocess.run([sys.executable, f"{ROOT}/tests/support/make_redist.py", f"{b.scratch}/wheels", redist, "13.2.9", "--level", "6"],
                   check=True)
    found = [os.path.join(at, f) for at, _, names in os.walk(redist) for f in names if f.endswith(".tar.xz")]
    manifest = f"{b.scratch}/archives.yaml"
    with open(manifest, "w", encoding="utf-8") as out:
        out.write(open(b.manifest, encoding="utf-8").read().replace("name: sixteen", "name: archives") + "sources: [redist]\n")
    env = b.environment("archives-lock", CUKIT_REDIST_URL=redist)
    subprocess.run([b.cukit, "lock", manifest], env=env, check=True, stdout=subprocess.DEVNULL)
    used = {os.path.basename(f) for f in re.findall(r"file: (\S+)", open(f"{b.scratch}/archives.lock.yaml", encoding="utf-8").read())}
    files = [f for f in found if os.path.basename(f) in used]

    def ours(n):
        return timed([b.cukit, "build", "--frozen", "-q", *NORMAL, manifest], dict(b.environment(f"archives{n}"), CUKIT_REDIST_URL=redist))

    def two_tars(n):
        os.makedirs(f"{b.scratch}/tar{n}")
        work = f'printf "%s\\0" "$@" | xargs -0 -n 1 -P 2 tar -C "{b.scratch}/tar{n}" -xJf'
        return timed(["sh", "-c", work, "sh", *sorted(files, key=os.path.getsize, reverse=True)])

    def python(n):
        os.makedirs(f"{b.scratch}/py{n}")
        code = ("import sys, tarfile, hashlib\n"
                "for f in sys.argv[2:]:\n"
                "    hashlib.sha256(open(f, 'rb').read()).hexdigest()\n"
                "    tarfile.open(f).extractall(sys.argv[1])\n")
        return timed([sys.executable, "-c", code, f"{b.scratch}/py{n}", *files])

    few = max(2, b.pairs // 2)
    pair = Pair(ours, two_tars, few, files)
    b.table.add("cold build from tar.xz archives", "two `tar xJf` at once", pair.ratio, 1.05, spread=pair.spread)
    b.table.add("peak memory of that", "-", pair.peak / 1024, 100, "MB")
    pair = Pair(lambda n: ours(n + 100), python, few, files)
    b.table.add("cold build from tar.xz archives", "Python's tarfile, one by one", pair.ratio, 0.55, spread=pair.spread)


def forged_wheel(folder, files):
    """A wheel of many small headers."""
    name = f"{folder}/nvidia_nvtx-13.2.9{files}-py3-none-any.whl"
    info = f"nvidia_nvtx-13.2.9{files}.dist-info"
    record = []
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as out:
        def add(path, text):
            out.writestr(path, text)
            digest = urlsafe_b64encode(sha256(text.encode()).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(text)}")

        for n in range(files):
            add(f"nvidia/cu13/include/many/{n // 500}/h{n}.h", f"#define MANY_{n} {n}\n")
        add("nvidia/cu13/include/nvtx3/nvToolsExt.h", "#pragma once\n")
        add(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: nvidia-nvtx\nVersion: 13.2.9{files}\n")
        add(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        out.writestr(f"{info}/RECORD", "\n".join(record) + f"\n{info}/RECORD,,\n")
    return name


def growth(b):
    """Costs per file and per tree must not grow with their number."""
    seconds = {}
    folder = f"{b.scratch}/forged"
    os.makedirs(folder)
    block = re.search(r"(?s)      - component: nvtx\n.*?(?=      - component|\Z)", b.lock)[0]
    head = re.sub(r"(?s)(    artifacts:\n).*", r"\1", b.lock)
    for files in (10000, 100000):
        wheel = forged_wheel(folder, files)
        text = block
        for key, value in (("version", f'"13.2.9{files}"'), ("file", os.path.basename(wheel)), ("size", os.path.getsize(wheel)),
                           ("sha256", "sha256:" + sha256(open(wheel, "rb").read()).hexdigest())):
            text = re.sub(rf"(?m)^(        {key}: ).*$", rf"\g<1>{value}", text)
        manifest = b.manifest_with(f"many{files}", head + text)
        env = b.environment(f"many{files}", PIP_FIND_LINKS=folder)
        settle([wheel])
        seconds[files] = timed([b.cukit, "build", "--frozen", "-q", *NORMAL, manifest], env)
    b.table.add("build of 100,000 files, seconds per file", "the same with 10,000 files",
                seconds[100000][0] / seconds[10000][0] / 10, 1.25)
    b.table.add("peak memory of that", "-", seconds[100000][1] / 1024, 200, "MB")
    with b.served() as server:
        spent = []
        for n in range(16):
            lock = re.sub(r'(?m)^release: "(\d+\.\d+)\.\d+"', rf'release: "\1.{200 + n}"', b.lock)
            spent.append(timed(*b.build("many-trees", f"{server.url}/simple", *NORMAL, manifest=b.manifest_with(f"tree{n}", lock)))[0])
        listed = timed([b.cukit, "list", "--json"], b.environment("many-trees"))[0]
    b.table.add("a further tree in a store with 13..16 trees", "with 2..5 trees", statistics.median(spent[12:]) / statistics.median(spent[1:5]), 1.25)
    b.table.add("list of a store with 16 trees", "100 ms", listed * 1000, 100, "ms")


def doctor(b):
    """On a warm disk: what a person waits for."""
    for machine in ("venv", "crowd"):
        torch_venv(f"{b.scratch}/{machine}/opt/venv")
    crowded_root(f"{b.scratch}/crowd")
    env = b.environment("doctor", PATH="/usr/bin:/bin")
    for what, machine, limit in (("doctor on a torch venv of 60 distributions", "venv", 100),
                                 ("doctor on a root of 200,000 files", "crowd", 1000)):
        command = [b.cukit, "doctor", "--root", f"{b.scratch}/{machine}", "--venv", "/opt/venv"]
        timed(command, env)
        runs = [timed(command, env) for _ in range(2 * b.pairs)]
        b.table.add(what, f"{limit} ms", statistics.median(seconds for seconds, _ in runs) * 1000, limit, "ms")
        b.table.add("peak memory of that", "-", max(memory for _, memory in runs) / 1024, 40, "MB")


ROWS = {row.__name__: row for row in
        (extraction, cold_build, cold_build_floor, durability, second_tree, nothing_to_do, verification, slow_line, archives, growth, doctor)}
