#!/usr/bin/env bash
# `cukit export cmake|meson|pkg-config`: a real build with each, where this machine's own CUDA cannot be found. `oci` and `tar` of the same
# tree: read back, the same twice, and nvcc compiles in what came out of the archive. Bazel is not run: its lines are checked by unit_export.
. "$(dirname "$0")/common.sh"
need_program cmake
need_program ninja
cache_wheels "$root/manifests/quickstart.lock.yaml"
export CUKIT_HOME=$scratch/store PIP_FIND_LINKS
cp "$root"/manifests/quickstart.yaml "$root"/manifests/quickstart.lock.yaml "$scratch/"
"$CUKIT" up --locked --no-validate "$scratch/quickstart.yaml" >"$scratch/up.log" 2>&1 || fail "up: $(tail -n 5 "$scratch/up.log")"
tree=$("$CUKIT" env quickstart --shell plain | sed -n 's/^CUDA_HOME=//p')

write_project() { # a program that says which CUDA it was built with
  mkdir -p "$1"
  cat >"$1/a.cu" <<'CU'
#include <cuda_runtime.h>
#include <cuda/std/version>
#include <cstdio>
__global__ void kernel(int* p) { *p = 1; }
int main() { std::printf("%d\n", CUDART_VERSION); return 0; }
CU
  sed '/__global__/d' "$1/a.cu" >"$1/host.cpp"
}
expect() { [ "$2" = 13000 ] || fail "$1 built with CUDA $2"; }

# CMake: the toolchain file alone, and the presets in a project's own.
write_project "$scratch/cmake"
"$CUKIT" export cmake "$scratch/cmake/cukit" quickstart >/dev/null || fail "export cmake"
cat >"$scratch/cmake/CMakeLists.txt" <<'CM'
cmake_minimum_required(VERSION 3.23)
project(a LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
message(STATUS "targets <${CMAKE_CUDA_ARCHITECTURES}> root <${CUDAToolkit_BIN_DIR}>")
add_executable(a a.cu)
target_link_libraries(a CUDA::cudart)
CM
echo '{"version": 4, "include": ["cukit/cukit-presets.json"]}' >"$scratch/cmake/CMakePresets.json"
bare cmake -G Ninja --toolchain "$scratch/cmake/cukit/cukit-toolchain.cmake" -S "$scratch/cmake" -B "$scratch/cmake/b" >"$scratch/cmake.log" 2>&1 ||
  fail "cmake: $(tail -n 5 "$scratch/cmake.log")"
grep -q "root <$tree/bin>" "$scratch/cmake.log" || fail "CMake took another toolkit: $(grep targets "$scratch/cmake.log")"
bare cmake --build "$scratch/cmake/b" >"$scratch/cmake.log" 2>&1 || fail "cmake --build: $(tail -n 5 "$scratch/cmake.log")"
expect CMake "$("$scratch/cmake/b/a")"
bare sh -c "cd '$scratch/cmake' && cmake -G Ninja --preset cukit && cmake --build --preset cukit" >"$scratch/cmake.log" 2>&1 ||
  fail "the preset: $(tail -n 5 "$scratch/cmake.log")"
expect "the preset" "$("$scratch/cmake/build/cukit/a")"

# pkg-config: a host program with the runtime.
if command -v pkg-config >/dev/null; then
  write_project "$scratch/pc"
  "$CUKIT" export pkg-config "$scratch/pc/files" quickstart >/dev/null || fail "export pkg-config"
  bare sh -ec "cd '$scratch/pc' && g++ host.cpp \$(PKG_CONFIG_PATH=files pkg-config --cflags --libs cudart) -o a" || fail "g++ with pkg-config"
  expect pkg-config "$(LD_LIBRARY_PATH=$tree/lib "$scratch/pc/a")"
else
  printf 'pkg-config is not installed: not tried\n' >&2
fi

# Meson.
if command -v meson >/dev/null; then
  write_project "$scratch/meson"
  "$CUKIT" export meson "$scratch/meson/files" quickstart >/dev/null || fail "export meson"
  printf "project('a', 'cpp', 'cuda')\nexecutable('a', 'a.cu', dependencies: dependency('cuda'))\n" >"$scratch/meson/meson.build"
  bare sh -ec "cd '$scratch/meson' && CUDA_PATH='$tree' meson setup --native-file files/cukit-native.ini b && ninja -C b" >"$scratch/meson.log" 2>&1 ||
    fail "meson: $(tail -n 5 "$scratch/meson.log")"
  grep -q "CUDA.*($tree)" "$scratch/meson.log" || fail "Meson took another toolkit: $(grep CUDA "$scratch/meson.log")"
  expect Meson "$("$scratch/meson/b/a")"
else
  printf 'meson is not installed: not tried\n' >&2
fi

# The archive, unpacked elsewhere; the image, twice.
"$CUKIT" export tar "$scratch/cuda.tar.gz" quickstart --at /srv/cuda >/dev/null || fail "export tar"
mkdir "$scratch/unpacked"
tar -C "$scratch/unpacked" -xf "$scratch/cuda.tar.gz" || fail "tar does not take the archive"
"$CUKIT" verify "$scratch/unpacked/srv/cuda" >/dev/null || fail "the unpacked tree is not what was built"
write_project "$scratch/plain"
bare "$scratch/unpacked/srv/cuda/bin/nvcc" -arch=sm_90 -o "$scratch/plain/a" "$scratch/plain/a.cu" || fail "nvcc of the archive"
expect "the archive" "$("$scratch/plain/a")"
"$CUKIT" export oci "$scratch/one" quickstart >/dev/null || fail "export oci"
taskset -c 0 "$CUKIT" export oci "$scratch/two" quickstart >/dev/null || fail "export oci on one processor"
diff -r "$scratch/one" "$scratch/two" || fail "two exports, two images"
