#!/bin/sh
# Fetches one version of an agent from npm into /out, from where it is copied to the root. Without a version it fetches nothing.
# Usage: fetch-agent.sh <command> <package> <version>
set -eu
here=$(dirname "$0")
command=$1
package=$2
version=$3

[ -n "$version" ] || exit 0
[ ! -s "$here/npmrc" ] || export NPM_CONFIG_USERCONFIG="$here/npmrc"
if [ -s /etc/ssl/certs/ca-certificates.crt ]; then export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt; fi
cache=$(mktemp -d)
mkdir -p "/opt/agents/$command"
npm install --no-audit --no-fund --no-update-notifier --ignore-scripts --cache "$cache" --prefix "/opt/agents/$command" "$package@$version"
rm -rf "$cache"
# The only install script that is needed. It is run by hand, because npm may be set to run none.
[ "$command" != opencode ] || (cd "/opt/agents/$command/node_modules/$package" && node postinstall.mjs)
ln -s "/opt/agents/$command/node_modules/.bin/$command" "/out/usr/local/bin/$command"
HOME=$(mktemp -d) "/opt/agents/$command/node_modules/.bin/$command" --version | grep -F "$version"
mv "/opt/agents/$command" /out/opt/agents/
