#!/bin/sh
# Fetches one version of Bun from npm into /opt/bun/bun. The program needs no other files.
set -eu
here=$(dirname "$0")
version=$1

case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64 | arm64) arch=aarch64 ;;
  *) echo "There is no Bun for $(uname -m)." >&2; exit 1 ;;
esac
for loader in /lib/ld-musl-*; do if [ -e "$loader" ]; then arch=$arch-musl; fi; done

[ ! -s "$here/npmrc" ] || export NPM_CONFIG_USERCONFIG="$here/npmrc"
if [ -s /etc/ssl/certs/ca-certificates.crt ]; then export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt; fi
work=$(mktemp -d)
cd "$work"
# The package of the platform itself: no install script has to choose it.
npm install --no-audit --no-fund --no-update-notifier --ignore-scripts --cache "$work/cache" "@oven/bun-linux-$arch@$version"
mkdir -p /opt/bun
install -m 755 "node_modules/@oven/bun-linux-$arch/bin/bun" /opt/bun/bun
cd /
rm -rf "$work"
HOME=/nonexistent /opt/bun/bun --version | grep -F "$version"
