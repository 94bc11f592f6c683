#!/usr/bin/env bash
# The doctor on a real venv that pip has mixed: at each wrong turn nvcc fails as the doctor says, and after the command that the doctor
# prints the same file compiles. NVIDIA's wheels, no GPU.
. "$(dirname "$0")/common.sh"
need_program uv
need_program g++
venv=$scratch/venv
uv venv -q "$venv" || skip "no venv can be made"
put() { uv pip install -q --python "$venv/bin/python" --no-deps "$@" || skip "the wheels cannot be downloaded"; }
put pip cuda-toolkit==13.0.2 nvidia-cuda-runtime==13.0.96
cu13=$(echo "$venv"/lib/python3.*/site-packages/nvidia/cu13)

cat >"$scratch/k.cu" <<'CU'
#include <cooperative_groups.h>
#include <cuda/std/type_traits>
__global__ void k(int* x) { auto block = cooperative_groups::this_thread_block(); x[0] = (int)block.size(); }
CU
build=(-c)
nvcc=$cu13/bin/nvcc
compiles() { bare PATH="$(dirname "$nvcc"):/usr/bin:/bin" CUDA_HOME="$cu13" "$nvcc" -arch=sm_120 "${build[@]}" "$scratch/k.cu" -o "$scratch/k.o" >"$scratch/log" 2>&1; }
doctor() { bare PATH="$(dirname "$nvcc"):/usr/bin:/bin" CUDA_HOME="$cu13" "$CUKIT" --json doctor --venv "$venv" --gpu sm_120 --consumer cmake "$@" >"$scratch/report.json"; }

# What fails, how nvcc says it, the cause that the doctor must name first; then the printed fix, and it compiles.
turn() {
  local what=$1 text=$2 cause=$3
  if compiles; then fail "$what: it compiles, but must not"; fi
  grep -qE "$text" "$scratch/log" || { tail -n 20 "$scratch/log"; fail "$what: another failure than expected"; }
  doctor --log "$scratch/log" && fail "$what: the doctor found no error"
  [ "$(json "$scratch/report.json" findings 0 id)" = "$cause" ] || { cat "$scratch/report.json"; fail "$what: not $cause"; }
  echo "as expected: $what: $cause"
}
mend() {
  local fix
  fix=$(json "$scratch/report.json" findings 0 fix 0 command)
  echo "fix: $fix"
  bash -c "$fix" >/dev/null 2>"$scratch/fix.log" || { cat "$scratch/fix.log"; skip "the fix needs an index"; }
  compiles || { tail -n 20 "$scratch/log"; fail "it does not compile after the fix"; }
  doctor || { python3 - "$scratch/report.json" <<'PY'
import json, sys
wrong = [f["id"] for f in json.load(open(sys.argv[1]))["findings"] if f["severity"] == "error" and f["id"] in ("headers-differ", "cicc-differs", "crt-differs", "cccl-missing")]
sys.exit("still found: " + ", ".join(wrong) if wrong else 0)
PY
  }
  echo "it compiles"
}

put nvidia-cuda-nvcc==13.2.78 nvidia-cuda-crt==13.2.78 nvidia-nvvm==13.2.78
turn "no CCCL" "(cuda/std/type_traits|nv/target).*No such file|cannot open source file" cccl-missing
put nvidia-cuda-cccl==13.2.75
turn "nvcc 13.2 on headers of 13.0" "CUDA compiler and CUDA toolkit headers are incompatible" headers-differ
put nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-cccl==13.0.85
turn "cicc 13.2 with ptxas 13.0" "Unsupported .version 9.2" cicc-differs
mend
put nvidia-cuda-crt==13.2.78
sed -i 's/auto block.*/x[0] = 1; } void run(int* x) { k<<<1, 1>>>(x); }/' "$scratch/k.cu"
turn "crt of 13.2 with nvcc 13.0" "__cudaLaunch" crt-differs
mend

echo '__global__ void k(int* x) { x[0] = 1; } int main() { k<<<1, 1>>>(nullptr); }' >"$scratch/k.cu"
build=()
turn "a tree without lib64" "cannot find -lcuda(rt_static|devrt)" library-folder-missing
mend
build=(-dlto -rdc=true)
turn "-dlto without nvvm/lib64" "elfLink linker library load error" dlto-library-missing
mend
build=(-rdc=true)
uv pip install -q --no-deps --target "$scratch/newer" nvidia-cuda-nvcc==13.2.78 || skip "the wheels cannot be downloaded"
cp --remove-destination "$scratch/newer/nvidia/cu13/bin/ptxas" "$cu13/bin/ptxas"
turn "ptxas 13.2 with nvlink 13.0" "newer than toolkit" nvlink-differs
mend
build=(-c)
rm "$cu13/bin/ptxas"
turn "no ptxas" "ptxas: not found" part-missing
mend
mkdir -p "$scratch/bin"
ln -s "$cu13/bin/nvcc" "$scratch/bin/nvcc"
nvcc=$scratch/bin/nvcc
echo '#include <cuda_runtime.h>' >>"$scratch/k.cu"
turn "nvcc linked alone" "cuda_runtime.h: No such file|cudafe\+\+: not found|not found" nvcc-linked-alone
echo "fix: $(json "$scratch/report.json" findings 0 fix 1 command)"
bash -c "$(json "$scratch/report.json" findings 0 fix 1 command)"
compiles || { tail -n 20 "$scratch/log"; fail "it does not compile through the script"; }
echo "it compiles"
