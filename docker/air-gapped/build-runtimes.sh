#!/usr/bin/env bash
# Makes the images that `mahabharatha serve` runs programs and sessions in, without a container registry: see README.md
# beside this file.
set -euo pipefail
. "$(dirname "$0")/debian-image.sh"

begin "$@"
make_image "mahabharatha-shell:$SUITE" bash,ca-certificates,git,procps
make_image "mahabharatha-python:$SUITE" bash,ca-certificates,git,procps,python3,python3-pip,python3-venv,python-is-python3
make_image "mahabharatha-ruby:$SUITE" bash,ca-certificates,git,procps,ruby,ruby-bundler
make_image "mahabharatha-node:$SUITE" bash,ca-certificates,git,procps node
