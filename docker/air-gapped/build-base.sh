#!/usr/bin/env bash
# Makes mahabharatha-base:<suite>, a base image for workers, without a container registry: see README.md beside this file.
set -euo pipefail
. "$(dirname "$0")/debian-image.sh"

begin "$@"
make_image "mahabharatha-base:$SUITE" bash,ca-certificates,curl,git node
