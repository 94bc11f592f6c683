#!/usr/bin/env bash
# A toolkit from redistributables: archives in NVIDIA's layout, made of real wheels, served by nginx on loopback. It is locked, built and
# compiles in an empty environment; the same folder without a server gives the same tree; JSON manifests alone are enough to lock.
. "$(dirname "$0")/common.sh"
need_program nginx
need_program g++
cache_wheels "$root/manifests/quickstart.lock.yaml"
"$root/tests/support/make_redist.py" "$wheels" "$scratch/base" 13.0.9 --level 0 || fail "no archives could be made"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$scratch/nginx"
cat >"$scratch/nginx.conf" <<CONF
daemon off; master_process off; error_log $scratch/nginx/error.log; pid $scratch/nginx/pid;
events {}
http {
  access_log $scratch/nginx/access.log;
  client_body_temp_path $scratch/nginx/body; proxy_temp_path $scratch/nginx/proxy; fastcgi_temp_path $scratch/nginx/fastcgi;
  uwsgi_temp_path $scratch/nginx/uwsgi; scgi_temp_path $scratch/nginx/scgi;
  server { listen 127.0.0.1:$port; location / { root $scratch/base; autoindex on; } }
}
CONF
nginx -c "$scratch/nginx.conf" -p "$scratch/nginx" 2>/dev/null &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null && break; sleep 0.1; done

unset PIP_FIND_LINKS
export CUKIT_INDEX_URL=http://127.0.0.1:9/ CUKIT_HOME=$scratch/home
cat >"$scratch/kit.yaml" <<'YAML'
cukit: 1
name: kit
gpus: [sm_90, sm_120]
toolkit: {nvcc: "13.0"}
components: [core]
sources: [redist]
platforms: [linux-x86_64]
YAML

# JSON alone is enough to lock.
mkdir -p "$scratch/json/cuda"
cp "$scratch"/base/cuda/redist/*.json "$scratch/json/cuda/"
CUKIT_REDIST_URL=$scratch/json "$CUKIT" lock "$scratch/kit.yaml" || fail "lock from a folder of manifests"
cp "$scratch/kit.lock.yaml" "$scratch/first.lock.yaml"
rm "$scratch/kit.lock.yaml"
"$CUKIT" lock --redist-url "http://127.0.0.1:$port" "$scratch/kit.yaml" || fail "lock from a server"
cmp "$scratch/first.lock.yaml" "$scratch/kit.lock.yaml" || fail "a folder and a server give different locks"
grep -q 'source: redist' "$scratch/kit.lock.yaml" || fail "no archive in the lock"
grep -q 'trust: first-lock' "$scratch/kit.lock.yaml" || fail "archives that nobody knows are trusted silently"

export CUKIT_REDIST_URL="$scratch/json http://127.0.0.1:$port" # the first has no archives
"$CUKIT" up --locked --no-validate --json "$scratch/kit.yaml" >"$scratch/up.json" || fail "up: $(cat "$scratch/up.json")"
tree=$(json "$scratch/up.json" results 0 tree path)
digest=$(json "$scratch/up.json" results 0 tree digest)
[ -L "$tree/lib/libcudart.so" ] && [ -L "$tree/nvvm/lib64/libnvvm.so" ] || fail "links of libraries"
grep -q 'pcfiledir' "$tree/lib/pkgconfig/cudart-13.0.pc" || fail "a pkg-config file with an absolute root"
[ -f "$tree/LICENSES/nvcc/LICENSE" ] || fail "nvcc's licence"
[ "$(find "$tree" -type f -perm /222 | wc -l)" = 0 ] || fail "files that can be written"
write_probe "$scratch/probe.cu"
for target in sm_90 sm_120; do
  env -i PATH=/usr/bin:/bin HOME="$scratch" "$tree/bin/nvcc" -std=c++17 -arch="$target" -o "$scratch/probe" "$scratch/probe.cu" || fail "compiling for $target"
done
env -i PATH=/usr/bin:/bin HOME="$scratch" "$tree/bin/nvcc" -std=c++17 -dlto -arch=sm_90 -rdc=true -o "$scratch/lto" "$scratch/probe.cu" -lcuda || fail "link-time optimisation"

# A mirror of the archives has NVIDIA's paths, and is filled once. A bundle of them is enough where there is no route to anywhere.
"$CUKIT" mirror --locked "$scratch/kit.yaml" "$scratch/mirror" || fail "mirror"
"$CUKIT" mirror --locked --json "$scratch/kit.yaml" "$scratch/mirror" >"$scratch/mirror.json"
[ "$(json "$scratch/mirror.json" added)/$(json "$scratch/mirror.json" downloaded_bytes)" = 0/0 ] || fail "the second run added something"
(cd "$scratch/mirror/cuda/redist" && find . -name '*.tar.xz' -exec cmp {} "$scratch/base/cuda/redist/"{} \;) || fail "other bytes in the mirror"
"$CUKIT" bundle --locked "$scratch/kit.yaml" -o "$scratch/kit.tar" || fail "bundle"
if unshare -n true 2>/dev/null; then
  CUKIT_HOME=$scratch/cut_off unshare -n "$CUKIT" up --no-validate --json --bundle "$scratch/kit.tar" >"$scratch/cut_off.json" ||
    fail "up from a bundle, without a network: $(cat "$scratch/cut_off.json")"
  [ "$(json "$scratch/cut_off.json" results 0 tree digest)" = "$digest" ] || fail "the bundle gives another tree"
fi
# Of several mirrors each archive comes from the first that has it right.
cp -r "$scratch/mirror" "$scratch/spoiled"
printf x >>"$(find "$scratch/spoiled" -name 'cuda_nvcc-*.tar.xz')"
CUKIT_HOME=$scratch/mirrored CUKIT_REDIST_URL=http://127.0.0.1:9/ "$CUKIT" up --locked --no-validate --json --mirror "$scratch/spoiled" \
  --mirror "$scratch/mirror" "$scratch/kit.yaml" >"$scratch/mirrored.json" || fail "up from mirrors: $(cat "$scratch/mirrored.json")"
[ "$(json "$scratch/mirrored.json" results 0 tree digest)" = "$digest" ] || fail "mirrors give another tree"

# The folder itself, without the server, into another home: the same content.
kill "$server"
CUKIT_HOME=$scratch/other CUKIT_REDIST_URL=$scratch/base "$CUKIT" up --locked --no-validate --json "$scratch/kit.yaml" >"$scratch/again.json" ||
  fail "up from the folder: $(cat "$scratch/again.json")"
[ "$(json "$scratch/again.json" results 0 tree digest)" = "$digest" ] || fail "the same lock gives another tree"
