#!/usr/bin/env bash
# manifests/README.md, "Without a network": a bundle is all that a machine without a route needs, and the folder that `cukit mirror` makes serves
# cukit and pip through a web server that knows nothing of either.
. "$(dirname "$0")/common.sh"
need_program g++
need_program unshare
unshare -n true 2>/dev/null || skip "a network namespace needs root"
cache_wheels "$root/manifests/quickstart.lock.yaml"
cp "$root"/manifests/quickstart*.yaml "$scratch/"
export CUKIT_HOME=$scratch/home

"$CUKIT" bundle --locked "$scratch/quickstart.yaml" -o "$scratch/quickstart.tar" --platform linux-x86_64 || fail "bundle"
tar tf "$scratch/quickstart.tar" >/dev/null || fail "the bundle is no tar file"
mkdir "$scratch/away"
(
  cd "$scratch/away"
  unset PIP_FIND_LINKS
  export CUKIT_HOME=$scratch/away/home
  unshare -n "$CUKIT" up --bundle "$scratch/quickstart.tar"
) || fail "up from the bundle, without a network"
"$CUKIT" up --locked --no-validate "$scratch/quickstart.yaml" || fail "up with the network"
[ "$(ls "$scratch/away/home/trees")" = "$(ls "$CUKIT_HOME/trees")" ] || fail "the bundle makes another tree"

"$CUKIT" mirror --locked "$scratch/quickstart.yaml" "$scratch/mirror" --platform linux-x86_64 || fail "mirror"
"$CUKIT" mirror --locked --json "$scratch/quickstart.yaml" "$scratch/mirror" --platform linux-x86_64 >"$scratch/again.json"
[ "$(json "$scratch/again.json" downloaded_bytes)" = 0 ] || fail "the second run downloaded something"
python3 - "$scratch/mirror" >"$scratch/port" 2>"$scratch/server.log" <<'PY' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
server=$!
trap 'kill $server 2>/dev/null; chmod -R u+w "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do [ -s "$scratch/port" ] && break; sleep 0.1; done
url=http://127.0.0.1:$(cat "$scratch/port")
(
  unset PIP_FIND_LINKS
  CUKIT_HOME=$scratch/third CUKIT_INDEX_URL=$url "$CUKIT" up --locked --no-validate "$scratch/quickstart.yaml"
) || fail "up from the mirror behind a web server" # which knows no ranges
if python3 -m pip --version >/dev/null 2>&1; then
  wheel=$(basename "$scratch"/mirror/nvidia-nvvm/*.whl)
  version=$(echo "$wheel" | cut -d- -f2)
  env -u PIP_FIND_LINKS python3 -m pip download -q --isolated --no-deps --index-url "$url" --platform manylinux2014_x86_64 \
    --only-binary :all: -d "$scratch/pip" "nvidia-nvvm==$version" || fail "pip cannot use the mirror"
  cmp "$scratch/pip/$wheel" "$scratch/mirror/nvidia-nvvm/$wheel" || fail "pip got other bytes"
fi
exit 0
