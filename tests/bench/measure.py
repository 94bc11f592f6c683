"""How a figure comes about: whole processes, pairs that take turns, medians of ratios.

Absolute times of one machine mean little on another; a ratio inside one run does. Both sides of a pair start from the same state: written
pages on disk, the page cache holding the input files and nothing else.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time


class Missing(Exception):
    """A peer or a facility that is not on this machine; the rows that need it are left out, and said so."""


def timed(command, env=None, cwd=None):
    """Wall seconds and peak resident kilobytes of the largest process; a command that fails ends the measurement."""
    began = time.perf_counter()
    child = subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{errors.decode()[-2000:]}")
    return seconds, usage.ru_maxrss


def touch_pages(size=2 << 30):
    """A virtual machine gives pages that are free for two seconds back to its host, and the first write to each costs ten times as much then:
    more than all work of a build. Both sides begin with pages that are there, those of a file that was just deleted."""
    piece = bytes(1 << 20)
    with tempfile.TemporaryFile(dir=os.environ.get("CUKIT_BENCH_DIR")) as out:
        for _ in range(size >> 20):
            out.write(piece)


def settle(files=(), warm=False):
    """Written pages on disk, `files` in the page cache; of everything else nothing, or when `warm` what was used last."""
    os.sync()
    if warm:
        return
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as knob:
            knob.write("1")
    except OSError:
        pass  # not root: the first pair, which is not counted, warms both sides
    for file in files:
        with open(file, "rb") as data:
            while data.read(1 << 22):
                pass
    touch_pages()


class Pair:
    """Medians of `count` pairs after one that is not counted. A side is called with the number of its run, so that it can use fresh folders."""

    def __init__(self, ours, peer, count, files=(), warm=False):
        left, right, ratios = [], [], []
        self.peak = 0
        for number in range(count + 1):
            settle(files, warm)
            a, memory = ours(number)
            settle(files, warm)
            b, _ = peer(number)
            if number > 0:
                left.append(a)
                right.append(b)
                ratios.append(a / b)
            self.peak = max(self.peak, memory)
        self.ours = statistics.median(left)
        self.peer = statistics.median(right)
        self.ratio = statistics.median(ratios)
        self.spread = (min(ratios), max(ratios))


class Table:
    def __init__(self):
        self.rows = []
        self.left_out = []

    def add(self, what, against, value, goal, unit="x", spread=None):
        row = {"what": what, "against": against, "value": round(value, 4), "goal": goal, "unit": unit, "met": value <= goal}
        if spread:
            row["from"], row["to"] = round(spread[0], 4), round(spread[1], 4)
        self.rows.append(row)
        shown = f" ({spread[0]:.2f}..{spread[1]:.2f})" if spread else ""
        print(f"{what:52} {against:38} {value:8.3f} {unit:3} goal <= {goal:<5} {'ok' if row['met'] else 'MISSED'}{shown}", flush=True)

    def leave_out(self, what, why):
        self.left_out.append({"what": what, "why": why})
        print(f"{what:52} left out: {why}", flush=True)
