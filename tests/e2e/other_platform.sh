#!/usr/bin/env bash
# A tree for 64-bit Arm servers, assembled on this machine.
. "$(dirname "$0")/common.sh"
need_program readelf
[ "$(uname -m)" = x86_64 ] || skip "this machine is Arm itself"
cache_wheels "$root/manifests/quickstart.lock.yaml"
CUKIT_HOME=$scratch/home "$CUKIT" up --frozen --platform linux-sbsa --prefix "$scratch/sbsa" "$root/manifests/quickstart.yaml" || fail "up"
for file in bin/nvcc bin/ptxas nvvm/bin/cicc lib64/libcudart.so lib/stubs/libcuda.so targets/sbsa-linux/lib/libcudart.so; do
  readelf -h "$scratch/sbsa/$file" | grep AArch64 >/dev/null || fail "$file is not for AArch64"
done
[ -f "$scratch/sbsa/targets/sbsa-linux/include/cuda.h" ] || fail "targets/sbsa-linux/include"
[ ! -e "$scratch/sbsa/targets/x86_64-linux" ] || fail "an x86_64 folder in an Arm tree"
