#!/bin/sh
# Adds to the system's store those certificates of a PEM file that it does not have yet, and keeps all others:
# update-ca-certificates writes the store anew from files, so certificates without a file get one first.
# Usage: add-certificates.sh <file> [root of the system, default /]
set -eu
pem=$1
root=${2:-}
store=$root/etc/ssl/certs/ca-certificates.crt
extra=$root/usr/local/share/ca-certificates

main() {
  mkdir -p "$extra"
  [ -s "$store" ] || { echo "add-certificates: $store is missing: install ca-certificates first" >&2; exit 1; }
  added=$(write_missing "$pem")
  echo "$added certificates added"
  [ "$added" -gt 0 ] || return 0
  before=$(mktemp)
  cat "$store" >"$before"
  make_store
  kept=$(write_missing "$before")
  rm -f "$before"
  [ "$kept" -eq 0 ] || { make_store; echo "$kept certificates kept that had no file"; }
}

make_store() {
  if [ -n "$root" ]; then chroot "$root" update-ca-certificates >/dev/null; else update-ca-certificates >/dev/null; fi
}

# One certificate per file, else update-ca-certificates makes no hashed links for them. Prints how many were missing.
write_missing() {
  awk -v extra="$extra" '
    function free_name(file, there, line) {
      do { number += 1; file = extra "/mahabharatha-" number ".crt"; there = (getline line < file); close(file) } while (there >= 0)
      return file
    }
    /-----BEGIN CERTIFICATE-----/ { inside = 1; body = "" }
    inside { sub(/\r$/, ""); body = body $0 "\n" }
    /-----END CERTIFICATE-----/ {
      inside = 0
      if (!(body in known)) {
        known[body] = 1
        if (FILENAME != store) { count += 1; file = free_name(); printf "%s", body > file; close(file) }
      }
    }
    END { print count + 0 }
  ' store="$store" "$store" "$1"
}

main
