#!/usr/bin/env bash
# README, "A torch venv": its activate script takes the variables from cukit; nothing in the venv is replaced.
. "$(dirname "$0")/common.sh"
need_program g++
python3 -c 'import venv, ensurepip' 2>/dev/null || skip "python3-venv is not installed"
cache_wheels "$root/manifests/quickstart.lock.yaml"
export CUKIT_HOME=$scratch/home
cp "$root"/manifests/quickstart*.yaml "$scratch/"
"$CUKIT" up --locked --no-validate "$scratch/quickstart.yaml" || fail "up" # new_node.sh validates
python3 -m venv "$scratch/venv"
site=$(ls -d "$scratch"/venv/lib/python3*/site-packages)
# The layout that torch for CUDA 13.0 brings: headers and libraries of the runtime, no compiler.
mkdir -p "$site/nvidia/cu13/include" "$site/torch"
echo '#define CUDART_VERSION 13000' >"$site/nvidia/cu13/include/cuda_runtime_api.h"
printf "__version__ = '2.11.0+cu130'\ncuda: 'str' = '13.0'\n" >"$site/torch/version.py"
before=$(find "$site" -type f -exec sha256sum {} + | sort | sha256sum)
printf 'export CUKIT_HOME=%q\neval "$(%q env quickstart)"\n' "$CUKIT_HOME" "$CUKIT" >>"$scratch/venv/bin/activate"
write_probe "$scratch/probe.cu"
bare CUDA_HOME=/usr/local/cuda CPATH=/usr/local/cuda/include NVCC_APPEND_FLAGS=-I/usr/local/cuda/include bash -c '
  . "$1/venv/bin/activate"
  env >"$1/env"
  cd "$1" && nvcc -arch=sm_120 -o probe probe.cu' bash "$scratch" || fail "nvcc in the venv"
bare CUDA_HOME=/usr/local/cuda bash -c '
  . "$1/venv/bin/activate"; . "$1/venv/bin/activate"; deactivate; env >"$1/after"' bash "$scratch" || fail "deactivate"
! grep -q "^CUKIT_ENV\|^TORCH_EXTENSIONS_DIR\|$CUKIT_HOME/trees" "$scratch/after" || fail "deactivate leaves $(grep "$CUKIT_HOME/trees" "$scratch/after")"
grep -qx 'CUDA_HOME=/usr/local/cuda' "$scratch/after" || fail "deactivate does not restore CUDA_HOME"
! grep -qE '^(CPATH|NVCC_APPEND_FLAGS)=' "$scratch/env" || fail "variables of another toolkit are left"
tree=$(sed -n 's/^CUDA_HOME=//p' "$scratch/env")
case $tree in "$CUKIT_HOME"/trees/*) ;; *) fail "CUDA_HOME is $tree, not the immutable path" ;; esac
for name in FLASHINFER_WORKSPACE_BASE TORCH_EXTENSIONS_DIR TVM_FFI_CACHE_DIR DG_JIT_CACHE_DIR; do
  grep -q "^$name=.*/jit/$(basename "$tree")" "$scratch/env" || fail "$name is not a folder of this tree"
done
[ "$before" = "$(find "$site" -type f -exec sha256sum {} + | sort | sha256sum)" ] || fail "the venv was changed"
# `pytorch: {venv: PATH}` reads the venv's own CUDA.
printf 'cukit: 1\ngpus: [sm_90]\npytorch: {venv: venv}\ntoolkit: {nvcc: "13.0"}\n' >"$scratch/from-venv.yaml"
"$CUKIT" lock "$scratch/from-venv.yaml" >/dev/null || fail "a manifest that names the venv"
