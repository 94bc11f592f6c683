#!/usr/bin/env bash
# A working build, broken live in one way after the other: the build fails, the doctor reads the log and the environment and must name the
# cause first, and after the fix that it prints the same build works. NVIDIA's real packages, no GPU.
#   breakages.sh [NAME...]     these alone
. "$(dirname "$0")/common.sh"
need_program g++
need_program make
need_program cmake
python3 -c 'import venv, ensurepip' 2>/dev/null || skip "python3-venv is not installed"
[ "$(id -u)" = 0 ] || skip "hiding this machine's CUDA needs root"
only=("$@")

# --- what all start from: two toolkits of cukit, and a venv with the compiler's wheels
export CUKIT_HOME=$scratch/cukit
cache_wheels "$root/manifests/quickstart.lock.yaml" "$root/manifests/newest.lock.yaml"
for release in quickstart newest; do
  "$CUKIT" up --locked --no-validate --prefix "$scratch/$release" "$root/manifests/$release.yaml" >"$scratch/up.log" 2>&1 || { tail -n 5 "$scratch/up.log"; fail "up $release"; }
done
old=$scratch/quickstart
mkdir "$scratch/bin"
ln -s "$CUKIT" "$scratch/bin/cukit"
python3 -m venv "$scratch/venv"
# $@ is what pip is told to install
pip_into() { "$scratch/venv/bin/python" -m pip -q --disable-pip-version-check install --no-deps "$@" >"$scratch/pip.log" 2>&1 || skip "the wheels cannot be installed: $(tail -n 1 "$scratch/pip.log")"; }
pip_into nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
pip_into --upgrade setuptools # that makes wheels by itself
mv "$scratch/venv" "$scratch/venv.whole"
from_caller=()
while IFS= read -r name; do
  case $name in PIP_* | UV_* | SSL_CERT* | CURL_CA* | REQUESTS_CA* | *_proxy | *_PROXY | CUKIT_*) from_caller+=("$name=${!name}") ;; esac
done < <(compgen -e)

cat >"$scratch/plain.cu" <<'CU'
#include <cuda_fp16.h>
__global__ void k(float* x) { x[threadIdx.x] = sinf(x[threadIdx.x]) + __half2float(__float2half(1.0f)); }
int main() { k<<<1, 1>>>(nullptr); }
CU
cat >"$scratch/cccl.cu" <<'CU'
#include <cuda/std/type_traits>
#include <cuda/std/array>
__global__ void k(int* x) { cuda::std::array<int, 1> one{1}; x[0] = one[0]; }
CU

# --- one case: kit is a fresh copy of the newest toolkit, work an empty folder, `env` what the build runs with, `recipe` the lines of its
# Makefile, `build` the command
right=0 wrong=0 mended=0 advised=0 table=""
begin() {
  kit=$scratch/cuda work=$scratch/work venv=$scratch/venv
  rm -rf "$kit" "$work" "$venv"
  mkdir "$work"
  cp -al "$scratch/newest" "$kit"
  env=(PATH="$kit/bin:$scratch/bin:/usr/bin:/bin" CUDA_HOME="$kit")
  recipe=("nvcc -arch=sm_90 -c $scratch/plain.cu -o plain.o") build=make doctor_options=() by_hand=""
}
with_venv() {
  cp -al "$scratch/venv.whole" "$venv"
  wheels_root=$(echo "$venv"/lib/python3.*/site-packages/nvidia/cu13)
  env=(PATH="$venv/bin:$wheels_root/bin:$scratch/bin:/usr/bin:/bin" CUDA_HOME="$wheels_root" VIRTUAL_ENV="$venv")
  doctor_options=(--venv "$venv")
}
attempt() { # [BEFORE]: a command that the build's shell runs first
  { printf 'all:\n'; printf '\t%s\n' "${recipe[@]}"; } >"$work/Makefile"
  printf '%s\n' "cd '$work' || exit" "{ ${1:-:}" "} >'$scratch/fix.log' 2>&1 || exit" "$build" >"$scratch/attempt"
  bare "${from_caller[@]}" "${env[@]}" bash "$scratch/attempt" >"$scratch/log" 2>&1
}
note() { table+=$(printf '%-28s %-28s %s' "$1" "$2" "$3")$'\n'; echo "$1: $2: $3"; }

judge() { # NAME ID...: the first finding must be one of these
  local name=$1 first fix outcome
  shift
  if attempt; then wrong=$((wrong + 1)); note "$name" - "the build works although it was broken"; return; fi
  bare "${from_caller[@]}" "${env[@]}" bash -c 'cd "$1" && shift && exec "$@"' - "$work" "$CUKIT" --json doctor --log "$scratch/log" "${doctor_options[@]}" >"$scratch/report.json" 2>"$scratch/doctor.log" || true
  first=$(json "$scratch/report.json" findings 0 id 2>/dev/null || echo none)
  if [[ " $* " != *" $first "* ]]; then
    wrong=$((wrong + 1))
    note "$name" "$first" "WRONG, it is $*"
    [ -z "${CUKIT_E2E_VERBOSE:-}" ] || { tail -n 12 "$scratch/log"; cat "$scratch/doctor.log" "$scratch/report.json"; }
    return
  fi
  right=$((right + 1))
  fix=$(python3 -c 'import json, sys; print(next((f["command"] for f in json.load(open(sys.argv[1]))["findings"][0]["fix"] if f["command"]), ""))' "$scratch/report.json")
  if [ -z "$fix" ] && [ -n "$by_hand" ] && attempt "$by_hand"; then
    advised=$((advised + 1))
    note "$name" "$first" "right, and mended by hand as it advises: ${by_hand//$scratch/...}"
  elif [ -z "$fix" ] && [ -n "$by_hand" ]; then
    wrong=$((wrong + 1))
    note "$name" "$first" "right, but what it advises does not mend the build"
  elif [ -z "$fix" ]; then
    note "$name" "$first" "right; its fix is advice: $(json "$scratch/report.json" findings 0 fix 0 advice)"
  elif attempt "$fix"; then
    mended=$((mended + 1))
    note "$name" "$first" "right, and mended by: ${fix//$scratch/...}"
  else
    wrong=$((wrong + 1))
    note "$name" "$first" "right, but after its fix the build fails: ${fix//$scratch/...}: $(grep -iE 'error|fatal|not found|cannot' "$scratch/fix.log" "$scratch/log" | head -n 1)"
    [ -z "${CUKIT_E2E_VERBOSE:-}" ] || { cat "$scratch/fix.log"; tail -n 12 "$scratch/log"; }
  fi
}

# --- paths and variables
foreign_include_first() {
  env+=(CPATH="$old/include") # goes before -isystem, not before -I, so nvcc itself does not mind
  printf '#include <cuda_runtime_api.h>\n#if CUDART_VERSION < 13020\n#error these kernels need CUDA 13.2\n#endif\n' >"$work/h.cpp"
  recipe=("g++ -isystem \$(CUDA_HOME)/include -c h.cpp -o h.o")
  judge "$1" foreign-include-path flags-reach-another-toolkit
}
flags_with_another_include() {
  env+=(NVCC_PREPEND_FLAGS="-I$old/include")
  recipe=("nvcc -arch=sm_90 -c $scratch/cccl.cu -o cccl.o")
  judge "$1" flags-reach-another-toolkit foreign-include-path
}
nvcc_not_in_path() {
  env=(PATH="$scratch/bin:/usr/bin:/bin" CUDA_HOME="$kit")
  judge "$1" nvcc-not-in-path
}
variable_without_toolkit() {
  env=(PATH="$kit/bin:$scratch/bin:/usr/bin:/bin" CUDA_HOME="$work/nowhere")
  recipe=("\$(CUDA_HOME)/bin/nvcc -arch=sm_90 -c $scratch/plain.cu -o plain.o")
  judge "$1" variable-wrong-folder nvcc-not-in-path
}
old_nvcc_first_in_cmake() {
  env=(PATH="$old/bin:$kit/bin:$scratch/bin:/usr/bin:/bin" CUDA_HOME="$kit")
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX CUDA)\nif(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13.2)\n  message(FATAL_ERROR "this needs CUDA 13.2 or newer, and found ${CMAKE_CUDA_COMPILER_VERSION}")\nendif()\nadd_library(k OBJECT %s)\n' "$scratch/plain.cu" >"$work/CMakeLists.txt"
  build='rm -rf b && cmake -B b -DCMAKE_CUDA_ARCHITECTURES=90 && cmake --build b'
  judge "$1" older-toolkit-first version-not-met two-toolkits
}
stale_cmake_cache() {
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX CUDA)\nadd_library(k OBJECT %s)\n' "$scratch/plain.cu" >"$work/CMakeLists.txt"
  cp -al "$old" "$work/gone"
  bare PATH="$work/gone/bin:/usr/bin:/bin" bash -c "cd '$work' && cmake -B b -DCMAKE_CUDA_ARCHITECTURES=90" >"$scratch/configure.log" 2>&1 || fail "the first configure run: $(tail -n 3 "$scratch/configure.log")"
  rm -rf "$work/gone"
  build='cmake -B b -DCMAKE_CUDA_ARCHITECTURES=90 && cmake --build b'
  judge "$1" build-environment-differs
}
older_library_first() {
  printf '#include <nvJitLink.h>\n#include <stdio.h>\nint main() { unsigned major = 0, minor = 0; printf("%%d\\n", (int)nvJitLinkVersion(&major, &minor)); nvJitLinkHandle h; nvJitLinkCreate(&h, 0, nullptr); }\n' >"$work/j.cpp"
  python3 -m pip -q --disable-pip-version-check install --no-deps --target "$work/older" nvidia-nvjitlink==13.0.88 >"$scratch/pip.log" 2>&1 || skip "the wheels cannot be installed: $(tail -n 1 "$scratch/pip.log")"
  env+=(LD_LIBRARY_PATH="$work/older/nvidia/cu13/lib")
  recipe=("g++ -I$kit/include j.cpp -o j -L$kit/lib -lnvJitLink -Wl,-rpath,$kit/lib -Wl,--enable-new-dtags" "./j")
  judge "$1" library-lacks-symbols library-path-shadows
}

# --- damaged toolkits
part_missing() { # PATH
  rm "$kit/$2"
  judge "$1" part-missing tool-missing crt-missing libdevice-missing
}
cicc_missing() { part_missing "$1" nvvm/bin/cicc; }
ptxas_missing() { part_missing "$1" bin/ptxas; }
fatbinary_missing() { part_missing "$1" bin/fatbinary; }
cudafe_missing() { part_missing "$1" bin/cudafe++; }
crt_missing() { rm -r "$kit/include/crt"; judge "$1" crt-missing part-missing headers-missing; }
profile_missing() {
  rm "$kit/bin/nvcc.profile"
  judge "$1" part-missing nvcc-linked-alone headers-missing
}
header_removed() {
  rm "$kit/include/cuda_fp16.h"
  judge "$1" header-missing headers-missing part-missing
}
ptxas_older_than_cicc() {
  cp --remove-destination "$old/bin/ptxas" "$kit/bin/ptxas"
  judge "$1" cicc-differs ptxas-too-old ptxas-refused
}
cccl_mixed() {
  rm -r "$kit/include/nv" "$kit/include/cccl/nv"
  cp -al "$old/include/nv" "$kit/include/nv"
  cp -al "$old/include/nv" "$kit/include/cccl/nv"
  printf '#include <cub/cub.cuh>\n__global__ void k(int* x) { x[0] = 1; }\n' >"$work/c.cu"
  recipe=("nvcc -arch=sm_90 -c c.cu -o c.o")
  judge "$1" cccl-mixed
}
stub_missing() {
  rm "$kit"/lib/stubs/libcuda.so
  printf '#include <cuda.h>\nint main() { return cuInit(0) == 0; }\n' >"$work/d.cu"
  recipe=("nvcc -arch=sm_90 d.cu -o d -lcuda")
  judge "$1" stub-missing library-missing
}
no_link_name() {
  rm "$kit"/lib/libnvrtc.so
  printf '#include <nvrtc.h>\nint main() { int a, b; return nvrtcVersion(&a, &b); }\n' >"$work/r.cu"
  recipe=("nvcc -arch=sm_90 r.cu -o r -lnvrtc")
  judge "$1" library-name-missing library-missing
}

# --- wheels
wheels_without_lib64() {
  with_venv
  recipe=("nvcc -arch=sm_90 $scratch/plain.cu -o plain")
  judge "$1" library-folder-missing
}
pruned_wheel() {
  with_venv
  rm -r "$wheels_root"/nvvm/libdevice "$wheels_root"/include/cuda_fp16.h*
  judge "$1" wheel-files-gone header-missing libdevice-missing
}
wheel_of_another_release() {
  with_venv
  pip_of_case nvidia-cuda-crt==13.5.37
  judge "$1" crt-differs
}
cicc_of_another_release() {
  with_venv
  pip_of_case nvidia-nvvm==13.5.37
  judge "$1" cicc-differs
}
pip_of_case() { "$venv/bin/python" -m pip -q --disable-pip-version-check install --no-deps "$@" >"$scratch/pip.log" 2>&1 || skip "the wheels cannot be installed: $(tail -n 1 "$scratch/pip.log")"; }
# A wheel of the files below $work/w: make_wheel NAME
make_wheel() {
  mkdir -p "$work/w/$1-1.0.dist-info"
  printf 'Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n' "${1//_/-}" >"$work/w/$1-1.0.dist-info/METADATA"
  printf 'Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >"$work/w/$1-1.0.dist-info/WHEEL"
  (cd "$work/w" && python3 - "$1" <<'PY'
import base64, hashlib, os, sys, zipfile
name = sys.argv[1]
with zipfile.ZipFile(f"../{name}-1.0-py3-none-any.whl", "w") as wheel:
    record = ""
    for top, _, files in os.walk("."):
        for file in files:
            path = os.path.relpath(f"{top}/{file}")
            data = open(path, "rb").read()
            wheel.write(path)
            record += f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
    wheel.writestr(f"{name}-1.0.dist-info/RECORD", record + f"{name}-1.0.dist-info/RECORD,,\n")
PY
  )
  pip_of_case "$work/$1-1.0-py3-none-any.whl"
}
wheel_that_clobbers() {
  with_venv
  mkdir -p "$work/w/nvidia/cu13/bin"
  cp "$kit/bin/ptxas" "$work/w/nvidia/cu13/bin/ptxas"
  make_wheel nvidia_zorp_tools
  "$venv/bin/python" -m pip -q uninstall -y nvidia-zorp-tools >"$scratch/pip.log" 2>&1 || fail "uninstall: $(cat "$scratch/pip.log")"
  judge "$1" wheel-files-overwritten wheel-files-gone part-missing
}
build_isolation() {
  with_venv
  mkdir -p "$work/w" "$work/p"
  printf '__version__ = "1"\n' >"$work/w/zorpbuild.py"
  make_wheel zorpbuild
  printf 'from setuptools import setup\nimport zorpbuild\nsetup(name="zorpkernels", version="1.0", py_modules=[])\n' >"$work/p/setup.py"
  printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n' >"$work/p/pyproject.toml"
  build='python -m pip show -q zorpkernels 2>/dev/null || python -m pip install --no-deps ./p'
  judge "$1" build-isolated
}

# --- what the command line asks for
host_compiler_absent() {
  recipe=("nvcc -ccbin g++-97 -arch=sm_90 -c $scratch/plain.cu -o plain.o")
  judge "$1" host-compiler-missing
}
host_compiler_variable() {
  env+=(NVCC_CCBIN=/usr/bin/g++-97)
  judge "$1" host-compiler-missing
}
target_of_the_past() {
  echo 70 >"$work/target"
  recipe=("nvcc -arch=sm_\$\$(cat target) -c $scratch/plain.cu -o plain.o")
  judge "$1" architecture-removed
}
target_that_is_none() {
  echo 125 >"$work/target"
  recipe=("nvcc -arch=sm_\$\$(cat target) -c $scratch/plain.cu -o plain.o")
  by_hand='echo 120 >target'
  judge "$1" target-unknown
}
name_that_went() {
  printf '#include <cub/cub.cuh>\n__global__ void k(int* x) { x[0] = cub::Max()(x[0], x[1]); }\n' >"$work/m.cu"
  recipe=("nvcc -arch=sm_90 -c m.cu -o m.o")
  by_hand="sed -i 's/cub::Max()/cuda::maximum<>()/; 1a #include <cuda/functional>' m.cu"
  judge "$1" name-gone
}
option_of_a_newer_release() {
  env=(PATH="$old/bin:$scratch/bin:/usr/bin:/bin" CUDA_HOME="$old")
  recipe=("nvcc -std=c++23 -arch=sm_90 -c $scratch/plain.cu -o plain.o")
  by_hand="export PATH='$kit/bin':\"\$PATH\""
  judge "$1" name-not-yet
}

cases=(foreign_include_first flags_with_another_include nvcc_not_in_path variable_without_toolkit old_nvcc_first_in_cmake stale_cmake_cache older_library_first
  cicc_missing ptxas_missing fatbinary_missing cudafe_missing crt_missing profile_missing header_removed ptxas_older_than_cicc cccl_mixed stub_missing
  no_link_name wheels_without_lib64 pruned_wheel wheel_of_another_release cicc_of_another_release wheel_that_clobbers build_isolation host_compiler_absent
  host_compiler_variable target_of_the_past target_that_is_none name_that_went option_of_a_newer_release)
for name in "${cases[@]}"; do
  if [ ${#only[@]} = 0 ] || [[ " ${only[*]} " == *" $name "* ]]; then
    begin
    "$name" "$name"
  fi
done
printf '\n%s\n%d of %d causes named first, %d builds mended by the printed command, %d by hand as it advises, %d wrong\n' "$table" "$right" "$(printf '%s' "$table" | wc -l)" "$mended" "$advised" "$wrong"
[ "$wrong" = 0 ] || exit 1
