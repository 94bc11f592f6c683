#!/usr/bin/env bash
# A compiler cache never serves one tree's object to another: ccache and sccache, over every pair of the example trees, with the
# variables that `cukit env` prints. Without them the wrong object comes, which is shown too, so that this can fail.
. "$(dirname "$0")/common.sh"
need_program g++
caches=()
for cache in ccache sccache; do
  if command -v "$cache" >/dev/null; then caches+=("$cache"); else printf 'skipped in part: %s is not installed\n' "$cache" >&2; fi
done
[ "${#caches[@]}" -gt 0 ] || skip "neither ccache nor sccache is installed"
names=(quickstart newest newer-ptxas)
cache_wheels "$root"/manifests/{quickstart,newest,newer-ptxas}.lock.yaml
export CUKIT_HOME=$scratch/home
cp "$root"/manifests/*.yaml "$scratch/"
for name in "${names[@]}"; do
  "$CUKIT" up --locked --no-validate "$scratch/$name.yaml" >/dev/null || fail "up $name"
done
cat >"$scratch/unit.cu" <<'CU'
#include <cuda_runtime.h>
__global__ void k(float* out) { out[threadIdx.x] = CUDART_VERSION + threadIdx.x; }
CU
# compile NAME OUTPUT [LAUNCHER...]: in the environment of that toolkit
compile() {
  local name=$1 out=$2
  shift 2
  (
    eval "$("$CUKIT" env "$name" 2>/dev/null)"
    if [ -n "${forget:-}" ]; then unset CCACHE_EXTRAFILES SCCACHE_C_CUSTOM_CACHE_BUSTER; fi
    cd "$scratch" && "$@" nvcc -arch=sm_90 -c unit.cu -o "$out"
  )
}
export CCACHE_DIR=$scratch/ccache SCCACHE_DIR=$scratch/sccache SCCACHE_SERVER_PORT=$((20000 + $$ % 20000)) SCCACHE_IDLE_TIMEOUT=0
trap 'sccache --stop-server >/dev/null 2>&1; chmod -R u+w "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
# What a kernel was compiled with stands in its own note; the whole object would differ by names of temporary files.
tools_of() { strings -a "$1" | grep -oE 'Build cuda_[0-9.]+[^ ]*|V[0-9]+\.[0-9]+\.[0-9]+' | sort -u | tr '\n' ' '; }
for name in "${names[@]}"; do
  compile "$name" "plain-$name.o" || fail "nvcc of $name"
done
wrong=0
for cache in "${caches[@]}"; do
  for first in "${names[@]}"; do
    for second in "${names[@]}"; do
      [ "$first" != "$second" ] || continue
      [ "$(tools_of "$scratch/plain-$first.o")" != "$(tools_of "$scratch/plain-$second.o")" ] || fail "$first and $second compile alike"
      for forget in yes ""; do
        rm -rf "$CCACHE_DIR" "$SCCACHE_DIR"
        if [ "$cache" = sccache ]; then
          sccache --stop-server >/dev/null 2>&1 || :
          sccache --start-server >/dev/null 2>&1 || fail "sccache does not start"
        fi
        # A cache that takes nvcc's command apart may not know a new nvcc: no object is no wrong object.
        if ! { compile "$first" first.o "$cache" && compile "$second" second.o "$cache" && compile "$second" again.o "$cache"; }; then
          printf 'skipped in part: %s cannot run nvcc of %s or %s\n' "$cache" "$first" "$second" >&2
          continue
        fi
        if [ "$(tools_of "$scratch/second.o")" != "$(tools_of "$scratch/plain-$second.o")" ]; then
          [ -n "$forget" ] || fail "$cache gave $second the object that $first had compiled"
          wrong=$((wrong + 1))
        fi
        if [ -z "$forget" ] && [ "$cache" = ccache ]; then
          ccache -s 2>/dev/null | grep -E 'Hits: +[1-9]' >/dev/null || fail "ccache caches nothing for $second"
        fi
      done
    done
  done
done
[ "$wrong" -gt 0 ] || fail "without the variables no wrong object came: this test shows nothing"
printf '%s wrong objects without the variables, none with them\n' "$wrong"
