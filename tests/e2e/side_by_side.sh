#!/usr/bin/env bash
# Three toolkits at once: each is its own set, what is equal is shared, each compiles, a second `up` does nothing and asks nobody.
. "$(dirname "$0")/common.sh"
need_program g++
locks=("$root"/manifests/{quickstart,newest,newer-ptxas}.lock.yaml)
cache_wheels "${locks[@]}"
export CUKIT_HOME=$scratch/home
cp "$root"/manifests/*.yaml "$scratch/"
manifests=("$scratch"/{quickstart,newest,newer-ptxas}.yaml)

"$CUKIT" up --locked --no-validate "${manifests[0]}" || fail "up" # new_node.sh validates this one
"$CUKIT" up --locked "${manifests[@]:1}" || fail "up"
"$CUKIT" list --json >"$scratch/list.json"
python3 - "$scratch/list.json" <<'PY' || fail "the sets are not what the manifests ask for"
import json, sys
kits = {k["name"]: k["components"] for k in json.load(open(sys.argv[1]))["toolkits"]}
minor = lambda v: ".".join(v.split(".")[:2])
assert set(kits) == {"quickstart", "newest", "newer-ptxas"}, kits.keys()
assert minor(kits["quickstart"]["nvcc"]) == "13.0" and minor(kits["newest"]["nvcc"]) == "13.5"
assert kits["quickstart"]["nvcc"] == kits["quickstart"]["crt"] == kits["quickstart"]["nvvm"]
PY
path() { python3 -c 'import json,sys; print(next(k["tree"]["path"] for k in json.load(open(sys.argv[1]))["toolkits"] if k["name"] == sys.argv[2]))' "$scratch/list.json" "$1"; }
quickstart=$(path quickstart) newest=$(path newest) newer=$(path newer-ptxas)
"$quickstart/bin/ptxas" --version | grep 'release 13.0' >/dev/null || fail "quickstart's ptxas"
"$newer/bin/nvcc" --version | grep 'release 13.0' >/dev/null || fail "newer-ptxas's nvcc"
for tool in ptxas nvlink; do
  "$newer/bin/$tool" --version | grep -E 'release 13\.[2-9]' >/dev/null || fail "newer-ptxas's $tool is not newer"
done
[ "$quickstart/bin/cudafe++" -ef "$newer/bin/cudafe++" ] || fail "equal files are not shared"

# No network and no index at all: nothing is asked of anybody.
before=$(find "$CUKIT_HOME" -printf '%p %T@\n' | sort | sha256sum)
(
  export CUKIT_INDEX_URL=http://127.0.0.1:9/
  "$CUKIT" up --no-validate "${manifests[0]}" && "$CUKIT" up "${manifests[@]:1}"
) >"$scratch/again" || fail "the second up"
[ "$(grep -c 'nothing to do' "$scratch/again")" = 3 ] || fail "the second up did something: $(cat "$scratch/again")"
[ "$before" = "$(find "$CUKIT_HOME" -printf '%p %T@\n' | sort | sha256sum)" ] || fail "the second up wrote something"
if command -v strace >/dev/null; then
  strace -f -e trace=network -o "$scratch/trace" "$CUKIT" up "${manifests[1]}" >/dev/null
  ! grep -q 'connect(' "$scratch/trace" || fail "the second up connects somewhere"
fi
"$CUKIT" verify || fail "verify"
