#!/usr/bin/env bash
# `cukit export dockerfile`: both final stages built by a real engine (buildah) on a Debian root, from a mirror on loopback. A user who is not
# root compiles in `jit`; `libs` has what its loader finds and no compiler; neither keeps anything of cukit.
. "$(dirname "$0")/common.sh"
need_program buildah
need_debian_root
dist=${CUKIT_TEST_DIST:-$root/dist/cukit}
[ -x "$dist/bin/cukit" ] || "$root/cmd/dev" dist >/dev/null
export CUKIT_HOME=$scratch/store
mkdir "$scratch/project"
printf 'cukit: 1\nname: image\ngpus: [sm_90]\ntoolkit: {nvcc: "==13.0.88"}\n' >"$scratch/project/cukit.yaml"
cd "$scratch/project"
"$CUKIT" up --no-validate >"$scratch/up.log" 2>&1 || skip "the toolkit cannot be built here: $(tail -n 3 "$scratch/up.log")"
"$CUKIT" export dockerfile "$scratch/context" >/dev/null || fail "export dockerfile"
"$CUKIT" mirror cukit.yaml "$scratch/mirror" >"$scratch/mirror.log" 2>&1 || skip "no mirror: $(tail -n 2 "$scratch/mirror.log")"
cd "$root"
python3 - "$scratch" <<'PY' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1] + "/mirror")
handler.func.log_message = lambda *_: None
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open(sys.argv[1] + "/port.new", "w") as file:
    file.write(str(server.server_port))
import os
os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
server.serve_forever()
PY
server=$!
trap 'kill $server 2>/dev/null; chmod -R u+w "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
until [ -s "$scratch/port" ]; do kill -0 $server 2>/dev/null || skip "no server can be started"; sleep 0.1; done

engine() { buildah --root "$scratch/images" --runroot "$scratch/run" "$@"; }
empty=$(engine from scratch) || skip "buildah cannot work here"
engine add -q "$empty" "$base" / >/dev/null && engine commit -q "$empty" localhost/cukit-base >/dev/null || skip "buildah takes no Debian root here"
for stage in jit libs; do
  engine bud --isolation chroot --network host --layers --build-arg BASE=localhost/cukit-base --build-arg CUKIT_INDEX_URL="http://127.0.0.1:$(cat "$scratch/port")/" \
    --build-context "cukit=$dist" --target $stage -t $stage "$scratch/context" >"$scratch/$stage.log" 2>&1 ||
    fail "$stage: $(tail -n 8 "$scratch/$stage.log")"
done
cat >"$scratch/a.cu" <<'CU'
#include <cuda/std/version>
#include <cstdio>
__global__ void kernel(int* p) { *p = 1; }
int main() { std::printf("%d\n", CUDART_VERSION); }
CU
jit=$(engine from jit)
engine copy -q "$jit" "$scratch/a.cu" /tmp/a.cu >/dev/null
said=$(engine run --isolation chroot "$jit" -- sh -ec 'id -un; which ninja; nvcc -arch=sm_90 -o /tmp/a /tmp/a.cu; /tmp/a') || fail "nvcc in jit"
[ "$said" = $'cuda\n/usr/bin/ninja\n13000' ] || fail "jit says: $said"
engine run --isolation chroot "$jit" -- sh -c 'ls -d /mnt/* /var/cache/cukit /libs' 2>/dev/null && fail "jit keeps something of the build"
libs=$(engine from libs)
said=$(engine run --isolation chroot "$libs" -- sh -ec 'id -un; ls /opt/cuda; ldconfig -p | grep -c libcudart.so.13') || fail "libs"
[ "$said" = $'cuda\nLICENSES\nlib\n1' ] || fail "libs says: $said"
