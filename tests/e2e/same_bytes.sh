#!/usr/bin/env bash
# One lock, two homes and a prefix: the same content everywhere, no file that knows where it lies, and a moved tree compiles.
. "$(dirname "$0")/common.sh"
manifest=$root/manifests/quickstart.yaml
cache_wheels "$root/manifests/quickstart.lock.yaml"

CUKIT_HOME=$scratch/one "$CUKIT" build --frozen --json "$manifest" >"$scratch/one.json"
CUKIT_HOME="$scratch/two with a space" "$CUKIT" build --frozen --json --durability normal "$manifest" >"$scratch/two.json"
CUKIT_HOME=$scratch/one "$CUKIT" build --frozen --json --prefix "$scratch/prefix/cuda" "$manifest" >"$scratch/three.json"
one=$(json "$scratch/one.json" tree digest)
[ "$one" = "$(json "$scratch/two.json" tree digest)" ] || fail "two homes, two digests"
[ "$one" = "$(json "$scratch/three.json" tree digest)" ] || fail "the copy at a prefix has another digest"

tree=$(json "$scratch/one.json" tree path)
for path in "$tree" "$scratch/prefix/cuda" "$(json "$scratch/two.json" tree path)"; do
  if grep -rlF --exclude-dir=.cukit -e "$path" -e "$scratch" "$path"; then fail "a file knows where the tree lies"; fi
done
[ "$(stat -c %h "$tree/bin/ptxas")" -gt 1 ] || fail "the tree in the home does not share its files with the store"
[ "$(stat -c %h "$scratch/prefix/cuda/bin/ptxas")" = 1 ] || fail "the copy at a prefix shares files with the store"
CUKIT_HOME=$scratch/one "$CUKIT" verify >/dev/null || fail "verify finds something"

mv "$scratch/prefix/cuda" "$scratch/moved"
rm -rf "$scratch/one" "$scratch/two with a space" 2>/dev/null || { chmod -R u+w "$scratch/one" "$scratch/two with a space"; rm -rf "$scratch/one" "$scratch/two with a space"; }
write_probe "$scratch/probe.cu"
bare "$scratch/moved/bin/nvcc" -arch=sm_90 -o "$scratch/probe" "$scratch/probe.cu" -lcuda || fail "the moved tree does not compile"
"$CUKIT" verify "$scratch/moved" >/dev/null || fail "the moved tree does not verify"
printf 'x' >>"$scratch/moved/include/cuda.h" || fail "cannot edit"
"$CUKIT" verify "$scratch/moved" >"$scratch/found" && fail "verify misses an edited file"
grep -q 'include/cuda.h' "$scratch/found" || fail "verify does not name the edited file"
echo "same bytes: $one"
