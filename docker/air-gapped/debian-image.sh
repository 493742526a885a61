# Shared by build-base.sh and build-runtimes.sh: an image made of Debian packages, without a container registry.
SUITE=${SUITE:-bookworm}
NODE_VERSION=${NODE_VERSION:-24.21.0}
NPM_VERSION=${NPM_VERSION:-11.21.1}
TIME_LIMIT=${TIME_LIMIT:-600}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
add_certificates=$here/../worker/add-certificates.sh
self=$(basename "$0")
force=false

# Reads the arguments of the script, and makes the folder $work with what all its images depend on.
begin() {
  local argument
  for argument in "$@"; do
    case $argument in
      --force) force=true ;;
      *) fail "unknown argument $argument; there is --force" ;;
    esac
  done
  need docker npm sha256sum
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  gather "$work"
}

# Makes the image with these packages, comma-separated, unless it is there already; "node" adds Node and npm.
make_image() {
  local image=$1 packages=$2 node=${3:-} content
  content=$(content_hash "$packages" "$node")
  if [[ $force == false && $(content_of_image "$image") == "$content" ]]; then
    say "$image is up to date (${content:0:12})"
    return
  fi
  need mmdebstrap tar
  [[ $(id -u) == 0 ]] || fail "making a root file system needs root: sudo -E docker/air-gapped/$self"
  if [[ $node == node ]]; then fetch_node "$work"; fi
  make_file_system "$work" "$packages" "$node"
  import_image "$work" "$image" "$content"
}

say() { printf '%s\n' "$1"; }
fail() { printf '%s: %s\n' "${self%.sh}" "$1" >&2; exit 1; }

need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || fail "$program is missing; on Debian: apt-get install docker.io mmdebstrap"
  done
}

# What the image depends on besides the versions: mirrors, certificates and registry of the host.
gather() {
  host_sources >"$1/sources.list"
  host_certificates >"$1/certificates.pem"
  host_npmrc >"$1/npmrc"
}

# The Debian mirrors of this machine's apt, in either format, as one-line entries for our suite.
host_sources() {
  local own
  own=$(. /etc/os-release && printf %s "${VERSION_CODENAME:-}")
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 2>/dev/null |
    awk -v own="$own" -v suite="$SUITE" '
      $3 == "main" && ($2 == own || $2 == own "-updates" || $2 == own "-security") {
        sub("^" own, suite, $2); print "deb", $1, $2, $3
      }' | sort -u
}

# The additional authorities that this machine trusts: those of NODE_EXTRA_CA_CERTS, and those of its administrator.
host_certificates() {
  local file
  for file in "${NODE_EXTRA_CA_CERTS:-}" /usr/local/share/ca-certificates/*.crt; do
    if [[ -r $file ]]; then sed 's/\r$//' "$file"; printf '\n'; fi
  done
}

# Only the registry, without credentials in its address, and nothing else of the user's npm configuration.
host_npmrc() {
  local registry
  registry=$(npm --loglevel=error config get registry)
  [[ $registry == *@* ]] && registry=$(sed -E 's#//[^/@]*@#//#' <<<"$registry")
  printf 'registry=%s\n' "$registry"
}

content_hash() {
  {
    printf '%s\n' "$SUITE" "$1" "$(dpkg --print-architecture)"
    if [[ $2 == node ]]; then printf '%s\n' "$NODE_VERSION" "$NPM_VERSION"; fi
    cat "$here/debian-image.sh" "$add_certificates" "$work/sources.list" "$work/certificates.pem" "$work/npmrc"
  } | sha256sum | cut -d' ' -f1
}

content_of_image() {
  docker image inspect --format '{{index .Config.Labels "mahabharatha.base-content"}}' "$1" 2>/dev/null || true
}

# npm verifies the packages with the registry's checksums.
fetch_node() {
  local architecture
  if [[ -e $1/node ]]; then return; fi
  case $(dpkg --print-architecture) in
    amd64) architecture=x64 ;;
    arm64) architecture=arm64 ;;
    *) fail "no Node package for $(dpkg --print-architecture)" ;;
  esac
  mkdir "$1/node" "$1/npm"
  (cd "$1" && npm --loglevel=error pack --silent "node-linux-$architecture@$NODE_VERSION" "npm@$NPM_VERSION" >/dev/null)
  tar -xzf "$1/node-linux-$architecture-$NODE_VERSION.tgz" -C "$1/node" --strip-components=1
  tar -xzf "$1/npm-$NPM_VERSION.tgz" -C "$1/npm" --strip-components=1
}

# mmdebstrap runs it with the new root as its argument.
write_customization() {
  cat <<'HOOK'
#!/bin/sh
set -eu
work=$1
add_certificates=$2
node=$3
root=$4
if [ "$node" = node ]; then
  install -D -m 755 "$work/node/bin/node" "$root/usr/local/bin/node"
  mkdir -p "$root/usr/local/lib/node_modules" "$root/usr/local/etc"
  cp -r "$work/npm" "$root/usr/local/lib/node_modules/npm"
  chown -R 0:0 "$root/usr/local/lib/node_modules"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  install -m 644 "$work/npmrc" "$root/usr/local/etc/npmrc"
  chroot "$root" node --version
  chroot "$root" npm --version
fi
[ ! -s "$work/certificates.pem" ] || sh "$add_certificates" "$work/certificates.pem" "$root"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/log/apt "$root"/var/log/dpkg.log
HOOK
}

make_file_system() {
  write_customization >"$1/customize.sh"
  local sources=()
  if [[ -s $1/sources.list ]]; then sources=("$1/sources.list"); fi
  timeout "$TIME_LIMIT" mmdebstrap --quiet --variant=minbase --include="$2" \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook="sh '$1/customize.sh' '$1' '$add_certificates' '$3' \"\$1\"" \
    "$SUITE" "$1/root.tar" "${sources[@]}"
}

import_image() {
  timeout "$TIME_LIMIT" docker import \
    --change 'ENV PIP_BREAK_SYSTEM_PACKAGES=1 NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt LANG=C.UTF-8' \
    --change 'CMD ["bash"]' \
    --change "LABEL mahabharatha.base-content=$3" \
    --message "made by docker/air-gapped/$self" \
    "$1/root.tar" "$2" >/dev/null
  rm "$1/root.tar"
  say "$2 made (${3:0:12}, $(docker image inspect --format '{{.Size}}' "$2") bytes)"
}

