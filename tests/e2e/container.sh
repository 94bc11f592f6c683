#!/usr/bin/env bash
# README, "A container build": the build steps of manifests/container/Dockerfile, run in a Debian root since there is no engine here.
. "$(dirname "$0")/common.sh"
need_debian_root
cache_wheels "$root/manifests/quickstart.lock.yaml"
[ -x "$root/dist/cukit/bin/cukit" ] || "$root/cmd/dev" dist >/dev/null

context=$scratch/context
mkdir -p "$context/cukit"
cp -r "$root/dist/cukit/." "$context/cukit/"
cp "$root"/manifests/quickstart.yaml "$root"/manifests/quickstart.lock.yaml "$context/"
index=$(python3 -c 'from pip._internal.models.index import PyPI; print(PyPI.simple_url)')

# Builds one image, with `options` for its `up`: FROM is the Debian root, COPY and RUN are done as written, ENV is kept for the end.
image() {
  local to=$1 line words
  mkdir -p "$to/lower" "$to/upper" "$to/work" "$to/image"
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$to/upper,workdir=$to/work" "$to/image"
  mkdir -p "$to/image/wheels" "$to/image/proc" "$to/image/dev"
  mount --bind "$wheels" "$to/image/wheels"
  mount -t proc proc "$to/image/proc"
  mount --rbind /dev "$to/image/dev"
  cp /etc/resolv.conf /etc/hosts "$to/image/etc/" 2>/dev/null || true
  cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$to/image/etc/site-ca.crt"
  sed -e ':a' -e '/\\$/N; s/\\\n//; ta' -e "s/cukit up /cukit up $options /" "$root/manifests/container/Dockerfile" | while read -r line; do
    case $line in
      COPY\ --from=*) : ;;
      COPY\ *) read -r -a words <<<"${line#COPY }"
        for ((i = 0; i < ${#words[@]} - 1; i++)); do
          mkdir -p "$to/image/${words[-1]}"
          if [ -d "$context/${words[i]}" ]; then cp -r "$context/${words[i]}/." "$to/image/${words[-1]}"; # a folder's content, as COPY has it
          else cp "$context/${words[i]}" "$to/image/${words[-1]}"; fi
        done ;;
      RUN\ apt-get*) : ;; # already in the Debian root
      RUN\ *) chroot "$to/image" env -i PATH=/usr/bin:/bin HOME=/root TMPDIR=/tmp CUKIT_INDEX_URL="$index" PIP_FIND_LINKS=/wheels \
          SSL_CERT_FILE=/etc/site-ca.crt CURL_CA_BUNDLE=/etc/site-ca.crt sh -ec "${line#RUN }" || exit 1 ;;
    esac
  done
}
release() {
  umount -R "$1/image/dev" "$1/image/proc" "$1/image/wheels" 2>/dev/null || true
  umount "$1/image" 2>/dev/null || true
}
build() {
  own_mounts bash -euc "$(declare -f image release fail); options='${2:-}' base=$base wheels=$wheels root=$root context=$context index=$index
    image '$1' || { release '$1'; exit 1; }
    write() { cat >\"\$1\"; }
    cp '$scratch/probe.cu' '$1/image/tmp/probe.cu'
    chroot '$1/image' env -i PATH=/opt/cuda/bin:/usr/bin:/bin HOME=/root nvcc -arch=sm_90 -o /tmp/probe /tmp/probe.cu || fail 'nvcc in the image'
    # What lies above the Debian root, less what this script put there.
    (cd '$1/upper' && find . -type f -not -path './opt/cuda/*' -not -path './tmp/probe*' -not -path './etc/resolv.conf' -not -path './etc/hosts' -not -path './etc/site-ca.crt') >'$1/left'
    (cd '$1/image/opt/cuda' && find . -path ./.cukit -prune -o -printf '%p %y %m %T@ %l\n' | sort; find . -type f -not -path './.cukit/*' -print0 | sort -z | xargs -0 sha256sum) | sha256sum >'$1/bytes'
    find '$1/image/opt/cuda' -type f -links +1 >'$1/linked'
    release '$1'"
}
write_probe "$scratch/probe.cu"
build "$scratch/first" || fail "the build steps"
# Compiling the kernels once is enough.
build "$scratch/second" --no-validate || fail "the build steps a second time"
cmp "$scratch/first/bytes" "$scratch/second/bytes" || fail "two builds, two results"
[ ! -s "$scratch/first/linked" ] || fail "files are linked to elsewhere: $(head -n 3 "$scratch/first/linked")"
[ ! -s "$scratch/first/left" ] || fail "something is left behind: $(head -n 5 "$scratch/first/left")"
