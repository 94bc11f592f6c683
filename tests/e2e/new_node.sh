#!/usr/bin/env bash
# README, "A new node": up, then one line in a shell profile; CMake and plain nvcc use the toolkit in a fresh shell.
. "$(dirname "$0")/common.sh"
need_program g++
need_program cmake
need_program ninja
cache_wheels "$root/manifests/quickstart.lock.yaml"
export CUKIT_HOME=$scratch/home
cp "$root"/manifests/quickstart*.yaml "$scratch/"
"$CUKIT" up --locked "$scratch/quickstart.yaml" || fail "up"
printf 'export CUKIT_HOME=%q\neval "$(%q env quickstart)"\n' "$CUKIT_HOME" "$CUKIT" >"$scratch/profile"
write_probe "$scratch/probe.cu"
mkdir "$scratch/project"
cp "$scratch/probe.cu" "$scratch/project/"
cat >"$scratch/project/CMakeLists.txt" <<'CM'
cmake_minimum_required(VERSION 3.22)
project(probe LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(probe probe.cu)
target_link_libraries(probe PRIVATE CUDA::cudart CUDA::cuda_driver)
CM
for shell in bash dash; do
  command -v "$shell" >/dev/null || continue
  bare "$shell" -c '. "$1/profile" && nvcc -arch=sm_90 -o "$1/probe" "$1/probe.cu" && test "$CUDA_HOME" = "$CUDA_PATH"' "$shell" "$scratch" ||
    fail "nvcc in $shell"
done
bare bash -c '. "$1/profile" && cmake -G Ninja -S "$1/project" -B "$1/build" -DCMAKE_CUDA_ARCHITECTURES=90 >"$1/cmake.log" && cmake --build "$1/build" >>"$1/cmake.log"' \
  bash "$scratch" || { cat "$scratch/cmake.log"; fail "CMake"; }
grep -q "$CUKIT_HOME/trees/" "$scratch/build/CMakeCache.txt" || fail "CMake took another toolkit"
bare bash -c '. "$1/profile" && env' bash "$scratch" >"$scratch/env"
grep -qx 'FLASHINFER_CUDA_ARCH_LIST=9.0a 12.0f' "$scratch/env" || fail "FlashInfer's list: $(grep FLASHINFER_CUDA "$scratch/env")"
grep -qx 'TORCH_CUDA_ARCH_LIST=9.0;12.0' "$scratch/env" || fail "torch's list: $(grep TORCH_CUDA "$scratch/env")"
CUKIT_HOME=$CUKIT_HOME "$CUKIT" run quickstart -- nvcc --version | grep 'release 13.0' >/dev/null || fail "cukit run"
set +e
"$CUKIT" run quickstart -- sh -c 'exit 42'; [ $? = 42 ] || fail "the child's exit code"
"$CUKIT" run quickstart -- no-such-program 2>/dev/null; [ $? = 127 ] || fail "not found is 127"
"$CUKIT" run no-such-toolkit -- true 2>/dev/null; [ $? = 125 ] || fail "own failures are 125"
exit 0
