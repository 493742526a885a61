# Node and the sandbox agent, for a volume that containers of any image get (src/sandbox/runtime-volume.ts).
# `mahabharatha build sandbox` builds it, and `serve` when it is missing. Nothing runs in a container of this image itself.
# The base needs Node 20.19 or newer.
ARG BASE_IMAGE=node:24-bookworm-slim
FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="mahabharatha-sandbox" \
      org.opencontainers.image.description="Node and the agent of Mahabharatha's sandboxes." \
      org.opencontainers.image.licenses="MIT"
USER root
COPY docker/sandbox/prelude.sh /opt/mahabharatha/
RUN cp -L "$(command -v node)" /opt/mahabharatha/node && chmod 0111 /opt/mahabharatha/node
COPY dist/bundle/sandbox-agent/sandbox-agent.js /opt/mahabharatha/sandbox-agent.mjs
