#!/bin/sh
# Fetches one version of Claude Code from npm into /out, from where it is copied to the root. The program needs no other files.
# Without a version it fetches nothing.
set -eu
here=$(dirname "$0")
version=$1

[ -n "$version" ] || exit 0
[ ! -s "$here/npmrc" ] || export NPM_CONFIG_USERCONFIG="$here/npmrc"
if [ -s /etc/ssl/certs/ca-certificates.crt ]; then export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt; fi
work=$(mktemp -d)
cd "$work"
npm install --no-audit --no-fund --no-update-notifier --ignore-scripts --cache "$work/cache" "@anthropic-ai/claude-code@$version"
# Its install script only copies the platform's program. It is run by hand, because npm may be set to run no scripts.
(cd node_modules/@anthropic-ai/claude-code && node install.cjs)
install -m 755 node_modules/@anthropic-ai/claude-code/bin/claude.exe /out/usr/local/bin/claude
cd /
rm -rf "$work"
HOME=/nonexistent /out/usr/local/bin/claude --version | grep -F "$version"
