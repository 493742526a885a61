# Bun, for the code of AI clients (`mahabharatha mcp`). `mahabharatha build bun` builds it, and `mcp` when it is missing; by
# hand, from the root of the package:
#   docker build -f docker/bun.Dockerfile -t bun-runner-base .
# The base needs npm for the build, and the system's certificates when this machine trusts additional authorities.
ARG BASE_IMAGE=node:24-bookworm-slim

FROM ${BASE_IMAGE} AS foundation
USER root
# extra-ca.pem exists only when this machine trusts additional authorities.
COPY docker/worker/add-certificates.sh docker/worker/extra-ca.pe[m] /opt/bun/
RUN if [ -s /opt/bun/extra-ca.pem ]; then sh /opt/bun/add-certificates.sh /opt/bun/extra-ca.pem; fi \
 && rm -rf /opt/bun

# A stage of its own, so that npm's cache and the registry's address do not get into the image.
FROM foundation AS bun
ARG BUN_VERSION=1.4.4
COPY docker/bun/fetch-bun.sh docker/worker/npmr[c] /tmp/fetch/
RUN sh /tmp/fetch/fetch-bun.sh "${BUN_VERSION}"

FROM foundation
LABEL org.opencontainers.image.title="bun-runner-base" \
      org.opencontainers.image.description="Bun, which runs the code of AI clients in sandboxes of Mahabharatha." \
      org.opencontainers.image.licenses="MIT"
# Sandboxes have no network, and nothing of theirs is to be sent when they have.
ENV LANG=C.UTF-8 \
    DO_NOT_TRACK=1 \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
COPY --from=bun /opt/bun/bun /usr/local/bin/bun
COPY docker/bun/scan-imports.js docker/bun/link-packages.js docker/bun/list-versions.js docker/bun/wait.js /usr/local/lib/bun-runner/
# Packages and code are mounted here. Bun looks for what code imports in the folders above it, and so in that of the root.
RUN mkdir -p /code /packages /store && ln -s /packages/node_modules /node_modules
