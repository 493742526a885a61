#!/bin/sh
# Run once, as root, while the image is built: makes the base image one that a worker can live in.
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
  make_users
}

has() { command -v "$1" >/dev/null; }

check_node() {
  node --eval 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' && has npm && return
  echo 'The base image needs Node 20.19 or newer with npm: an official node image will do (the slim one too),' >&2
  echo 'or make one from Debian packages with docker/air-gapped/build-base.sh.' >&2
  exit 1
}

install_packages() {
  has apt-get || { echo 'The base image needs bash, ca-certificates, curl and git, or apt-get to install them.' >&2; exit 1; }
  # The package of certificates makes the store anew when it is installed.
  before=$(mktemp)
  [ ! -s "$store" ] || cat "$store" >"$before"
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends bash ca-certificates curl git
  [ -s "$store" ] || update-ca-certificates
  [ ! -s "$before" ] || sh "$here/add-certificates.sh" "$before"
  rm -f "$before"
  rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log
}

# Nobody becomes somebody else in a worker.
drop_set_id_bits() {
  find / -xdev -type f -perm /6000 -exec chmod a-s {} +
}

# Who runs here is decided when the container starts, so nothing may depend on one uid: the home is anybody's, the mount
# points are nobody's. What is under them is mounted.
make_folders() {
  mkdir -p /home/worker /workspace /gitdir /run/mahabharatha/inbox /run/mahabharatha/outbox /run/mahabharatha/shared
  chmod 1777 /home/worker
  # Volumes are mounted over these: a fresh one takes over the rights that it finds here.
  mkdir -p /run/mahabharatha/egress
  chmod 1777 /run/mahabharatha/egress
  for name in npm yarn pnpm pip uv cargo go; do
    mkdir -p "/caches/$name"
    chmod 1777 "/caches/$name"
  done
  # By this path the worker starts, whatever node is put first on the PATH later. A program that its user may not read
  # runs as a process that no other process of this user may trace or look into (/proc/<pid>/mem, environ, fd): a copy,
  # since tasks' own node is to be like any other program.
  cp -L "$(command -v node)" "$here/node"
  chmod 0111 "$here/node"
}

# Workers that root starts are users of their own (src/launchers/container/identity.ts), and programs look up who they are.
make_users() {
  echo 'workers:x:70000:' >> /etc/group
  number=0
  while [ "$number" -lt 64 ]; do
    echo "worker-$number:x:$((70001 + number)):70000::/home/worker:/bin/bash" >> /etc/passwd
    number=$((number + 1))
  done
}

main
