# Node and the sandbox agent, for a volume that containers of any image get (src/sandbox/runtime-volume.ts).
# `mahabharatha build sandbox` builds it, and `serve` when it is missing. In a container of this image itself runs the
# egress proxy alone.
# The base needs Node 20.19 or newer.
ARG BASE_IMAGE=node:24-bookworm-slim
FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="mahabharatha-sandbox" \
      org.opencontainers.image.description="Node, the agent of Mahabharatha's sandboxes, and their egress proxy." \
      org.opencontainers.image.licenses="MIT"
USER root
COPY docker/sandbox/prelude.sh docker/sandbox/wait.sh docker/sandbox/fork-server.py docker/sandbox/end-program.py docker/sandbox/fork-server.rb docker/sandbox/empty-folders.mjs docker/sandbox/own-folders.mjs /opt/mahabharatha/
# A new volume takes the rights of the folder that it covers: the proxy is no root.
RUN mkdir -p /run/mahabharatha/egress && chmod 1777 /run/mahabharatha/egress
RUN cp -L "$(command -v node)" /opt/mahabharatha/node && chmod 0111 /opt/mahabharatha/node
COPY dist/bundle/sandbox-agent/sandbox-agent.js /opt/mahabharatha/sandbox-agent.mjs
COPY dist/bundle/egress/egress.js /opt/mahabharatha/egress.mjs
