#!/usr/bin/env bash
# `cukit venv` on NVIDIA's wheels as pip installs them: each way in which their merge breaks is named, mended so that it compiles, and
# given back byte for byte.
. "$(dirname "$0")/common.sh"
need_program g++
python3 -c 'import venv, ensurepip' 2>/dev/null || skip "python3-venv is not installed"
mkdir -p "$wheels"
for one in nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 \
  nvidia-cuda-crt==13.2.78; do
  file=${one//-/_}
  compgen -G "$wheels/${file/==/-}-*.whl" >/dev/null ||
    python3 -m pip download -q --no-deps --only-binary :all: -d "$wheels" "$one" || skip "the wheels cannot be downloaded"
done
export PIP_FIND_LINKS=$wheels${PIP_FIND_LINKS:+ $PIP_FIND_LINKS} CUKIT_HOME=$scratch/home
venv=$scratch/venv
python3 -m venv "$venv"
pip() { "$venv/bin/python" -m pip -q --disable-pip-version-check "$@" 2>/dev/null; }
pip install --no-index --no-deps nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 \
  nvidia-cuda-cccl==13.0.85 || fail "pip install"
site=$(ls -d "$venv"/lib/python3*/site-packages)
kit=$site/nvidia/cu13
digest() {
  (cd "$venv" && { find . -path ./.cukit-venv -prune -o -type f -exec sha256sum {} + && find . -type l -printf '%p %l\n'; } | sort | sha256sum)
}
write_probe "$scratch/probe.cu"
builds() { bare "$kit/bin/nvcc" -arch=sm_120 -dlto -cudart shared -L"$kit/lib/stubs" -o "$scratch/probe" "$scratch/probe.cu" -lcuda; }

"$CUKIT" venv check "$venv" || fail "a matched set is not in order"
! builds 2>/dev/null || fail "wheels alone lack nothing: is the layout needed?"

mend() { # WHAT SAYS: the environment was broken by WHAT, and check has to say SAYS
  local before said
  before=$(digest)
  said=$("$CUKIT" venv check "$venv") && fail "$1: nothing is wrong?"
  case $said in *"$2"*) ;; *) fail "$1: check says $said" ;; esac
  "$CUKIT" venv apply "$venv" >/dev/null || fail "$1: apply"
  "$CUKIT" venv check "$venv" >/dev/null || fail "$1: check after apply"
  pip check || fail "$1: pip check"
  builds || fail "$1: it does not compile"
  "$CUKIT" venv restore "$venv" >/dev/null || fail "$1: restore"
  [ "$before" = "$(digest)" ] || fail "$1: other bytes after restore"
  "$CUKIT" venv apply "$venv" >/dev/null || fail "$1: apply again"
}

pip uninstall -y nvidia-cuda-cccl
mend "no CCCL" "nvidia-cuda-cccl"
pip uninstall -y nvidia-nvvm
mend "no cicc" "nvidia-nvvm"
pip install --no-index --no-deps nvidia-cuda-crt==13.2.78
mend "crt of another release" "nvidia-cuda-crt 13.2.78"
rm "$kit/bin/ptxas"
mend "a file is gone" "bin/ptxas"
echo '// of somebody' >>"$kit/include/crt/host_config.h"
mend "a file was changed" "host_config.h"
pip uninstall -y cukit-cuda-layout
[ ! -e "$kit/lib64" ] || fail "lib64 did not go with its package"
echo "real wheels: five ways to break them are mended and given back"
