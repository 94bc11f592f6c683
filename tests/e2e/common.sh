# Sourced by every script of this folder: CUKIT is the binary under test. Exit 77 means "cannot run here", and says why.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${CUKIT:=$root/build/release/cmd/cukit}"
# uv links a venv's files to its cache; a test that spoils one of them must not spoil the cache of whoever runs it.
export UV_LINK_MODE=copy
wheels=${CUKIT_TEST_WHEELS:-$root/build/wheels}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cukit-e2e-XXXXXX")
trap 'chmod -R u+w "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
skip() { printf 'skipped: %s\n' "$*" >&2; exit 77; }
need_program() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# The wheels that locks name, downloaded once by name into a folder that cukit is pointed to; parts that are read by ranges stay with
# the index.
cache_wheels() {
  python3 -m pip --version >/dev/null 2>&1 || skip "pip is not installed, so the wheels cannot be cached"
  mkdir -p "$wheels"
  exec 9>"$wheels/.lock"
  flock 9
  python3 - "$wheels" "$@" <<'PY' || skip "the wheels cannot be downloaded"
import os, re, subprocess, sys
folder, locks = sys.argv[1], sys.argv[2:]
groups = {}
for lock in locks:
    for artifact in re.split(r"\n\s+- component: ", open(lock).read())[1:]:
        if "\n        record:" in artifact or "          record:" in artifact:
            continue
        file = re.search(r"file: (\S+)", artifact)[1]
        name, version, tag = re.fullmatch(r"([a-z0-9_]+)-([\d.]+)-py3-none-(\S+)\.whl", file).groups()
        if not os.path.exists(f"{folder}/{file}"):
            groups.setdefault(tag.split(".")[-1], set()).add(f"{name.replace('_', '-')}=={version}")
for tag, wanted in groups.items():
    for one in sorted(wanted):
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--platform", tag,
                        "-d", folder, one], check=True)
PY
  flock -u 9
  export PIP_FIND_LINKS=$wheels${PIP_FIND_LINKS:+ $PIP_FIND_LINKS}
}

# A value of a JSON file: json FILE results 0 tree path
json() {
  python3 - "$@" <<'PY'
import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = value[int(key)] if isinstance(value, list) else value[key]
print(json.dumps(value) if isinstance(value, (dict, list)) else value)
PY
}

# A mount namespace of its own for a command. In a chroot "/" is no mount point, so its propagation cannot be changed; there it does when
# nothing is shared with anybody.
own_mounts() {
  if unshare -m --propagation private true 2>/dev/null; then
    unshare -m --propagation private "$@"
  elif ! grep -q ' shared:' /proc/self/mountinfo && unshare -m --propagation unchanged true 2>/dev/null; then
    unshare -m --propagation unchanged "$@"
  else
    skip "no mount namespace can be made here"
  fi
}

# Runs a command where this machine's own CUDA cannot be found: toolkits and the folders of /usr/local are hidden, and the environment is
# empty but for what is given. Needs root.
bare() {
  [ "$(id -u)" = 0 ] || skip "hiding this machine's CUDA needs root"
  mkdir -p "$scratch/empty" "$scratch/home"
  own_mounts bash -c '
    scratch=$1; shift
    for folder in /usr/local/include /usr/local/lib /usr/local/lib64 /usr/local/cuda /usr/lib/cuda /opt/cuda /opt/nvidia; do
      folder=$(readlink -f "$folder" || true)
      if [ -d "$folder" ]; then mount --bind "$scratch/empty" "$folder"; fi
    done
    if ldconfig -C "$scratch/ld.so.cache" 2>/dev/null; then mount --bind "$scratch/ld.so.cache" /etc/ld.so.cache; fi
    exec env -i PATH=/usr/bin:/bin HOME="$scratch/home" TMPDIR="${TMPDIR:-/tmp}" LANG=C.UTF-8 "$@"' bare "$scratch" "$@"
}

# A file that includes what JIT consumers include.
write_probe() {
  cat >"$1" <<'CU'
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda/std/array>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__global__ void k(float* out) {
  auto block = cooperative_groups::this_thread_block();
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = Reduce(storage).Sum(static_cast<float>(block.thread_rank()));
  cuda::std::array<float, 1> one{sum};
  if (block.thread_rank() == 0) out[0] = one[0] + __bfloat162float(__float2bfloat16(1.0f));
}
int main() {
  float* out = nullptr;
  if (cudaMalloc(&out, sizeof(float)) != cudaSuccess) return 77;
  k<<<1, 128>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
CU
}

# `base`: a Debian root with g++, made once.
need_debian_root() {
  [ "$(id -u)" = 0 ] || skip "a Debian root needs root"
  need_program debootstrap
  base=$root/build/debian-root
  [ ! -x "$base/bin/bash" ] || return 0
  local mirror
  . /etc/os-release
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed -n 1p)
  debootstrap --variant=minbase --include=g++,ca-certificates "$VERSION_CODENAME" "$base.new" "$mirror" >"$scratch/debootstrap.log" 2>&1 ||
    { rm -rf "$base.new"; skip "debootstrap failed: $(tail -n 2 "$scratch/debootstrap.log")"; }
  mv "$base.new" "$base"
}
