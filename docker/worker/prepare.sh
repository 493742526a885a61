#!/bin/sh
# Run as root while the image is built: prepares the base for workers.
set -eu
here=$(dirname "$0")
store=/etc/ssl/certs/ca-certificates.crt

main() {
  check_node
  if has bash && has curl && has git && [ -s "$store" ]; then
    echo 'bash, ca-certificates, curl and git are there'
  else
    install_packages
  fi
  if [ -s "$here/extra-ca.pem" ]; then sh "$here/add-certificates.sh" "$here/extra-ca.pem"; fi
  drop_set_id_bits
  make_folders
  make_user
}

has() { command -v "$1" >/dev/null; }

check_node() {
  node --eval 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' && has npm && return
  echo 'The base image needs Node 20.19 or newer with npm: use an official node image (the slim one, too),' >&2
  echo 'or make one from Debian packages with docker/air-gapped/build-base.sh.' >&2
  exit 1
}

install_packages() {
  has apt-get || { echo 'The base image needs bash, ca-certificates, curl and git, or apt-get to install them.' >&2; exit 1; }
  # Installing the package of certificates writes the store anew.
  before=$(mktemp)
  [ ! -s "$store" ] || cat "$store" >"$before"
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends bash ca-certificates curl git
  [ -s "$store" ] || update-ca-certificates
  [ ! -s "$before" ] || sh "$here/add-certificates.sh" "$before"
  rm -f "$before"
  rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log
}

# No program in a worker may run with the rights of another user.
drop_set_id_bits() {
  find / -xdev -type f -perm /6000 -exec chmod a-s {} +
}

# The uid is chosen when the container starts, so every user may write the home folder. Mount points belong to root.
make_folders() {
  mkdir -p /home/worker /workspace /gitdir /run/mahabharatha/inbox /run/mahabharatha/outbox /run/mahabharatha/shared
  chmod 1777 /home/worker
  # Volumes are mounted here: a new one takes over the rights of these folders.
  mkdir -p /run/mahabharatha/egress
  chmod 1777 /run/mahabharatha/egress
  for name in npm yarn pnpm pip uv cargo go; do
    mkdir -p "/caches/$name"
    chmod 1777 "/caches/$name"
  done
  # The worker starts by this path, whatever node is first on the PATH later. No other process of a user may trace a process
  # whose program that user may not read, or look into it (/proc/<pid>/mem, environ, fd). It is a copy, so that the node of
  # tasks stays an ordinary program. The first process is a copy too, of bash.
  cp -L "$(command -v node)" "$here/node"
  cp -L "$(command -v bash)" "$here/worker-init"
  chmod 0111 "$here/node" "$here/worker-init"
}

# Workers that root starts are another user (src/containers/identity.ts), and programs look their user up.
make_user() {
  echo 'worker:x:70000:' >> /etc/group
  echo 'worker:x:70000:70000::/home/worker:/bin/bash' >> /etc/passwd
}

main
