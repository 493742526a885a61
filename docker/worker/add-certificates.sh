#!/bin/sh
# Adds the certificates of a PEM file to the system's store, those only that it does not have yet.
# Usage: add-certificates.sh <file> [root of the system, default /]
set -eu
pem=$1
root=${2:-}
store=$root/etc/ssl/certs/ca-certificates.crt
extra=$root/usr/local/share/ca-certificates
mkdir -p "$extra"
[ -s "$store" ] || { echo "add-certificates: $store is missing: install ca-certificates first" >&2; exit 1; }

# One certificate per file, or the store's own tool leaves them out of the hashed links.
awk -v extra="$extra" '
  /-----BEGIN CERTIFICATE-----/ { inside = 1; body = "" }
  inside { sub(/\r$/, ""); body = body $0 "\n" }
  /-----END CERTIFICATE-----/ {
    inside = 0
    if (!(body in known)) {
      known[body] = 1
      if (FILENAME != store) { count += 1; file = extra "/mahabharatha-" count ".crt"; printf "%s", body > file; close(file) }
    }
  }
  END { print count + 0 " certificates added" }
' store="$store" "$store" "$pem"
if [ -n "$root" ]; then chroot "$root" update-ca-certificates; else update-ca-certificates; fi
