# The image that workers run in, for arm64 and x86_64. `mahabharatha build` builds it; by hand, from the root of the package:
#   docker build -f docker/worker.Dockerfile -t mahabharatha-worker .
# The base needs Node 20.19 or newer and npm. Other programs are installed with apt-get when they are missing.
ARG BASE_IMAGE=node:24-bookworm-slim

FROM ${BASE_IMAGE} AS foundation
USER root
# extra-ca.pem exists only when this machine trusts additional authorities.
COPY docker/worker/prepare.sh docker/worker/add-certificates.sh docker/worker/extra-ca.pe[m] /opt/mahabharatha/
RUN sh /opt/mahabharatha/prepare.sh \
 && rm -f /opt/mahabharatha/prepare.sh /opt/mahabharatha/add-certificates.sh /opt/mahabharatha/extra-ca.pem

# A stage of its own, so that npm's cache and the registry's address do not get into the image. An agent without a version is
# left out. It is one stage for all agents, because the classic builder fails after two copies that copy nothing.
FROM foundation AS agents
COPY docker/worker/fetch-claude.sh docker/worker/fetch-agent.sh docker/worker/npmr[c] /tmp/fetch/
RUN mkdir -p /out/opt/agents /out/usr/local/bin
ARG CLAUDE_CODE_VERSION=2.1.197
RUN sh /tmp/fetch/fetch-claude.sh "${CLAUDE_CODE_VERSION}"
ARG CODEX_VERSION=
RUN sh /tmp/fetch/fetch-agent.sh codex @openai/codex "${CODEX_VERSION}"
ARG GEMINI_VERSION=
RUN sh /tmp/fetch/fetch-agent.sh gemini @google/gemini-cli "${GEMINI_VERSION}"
ARG OPENCODE_VERSION=
RUN sh /tmp/fetch/fetch-agent.sh opencode opencode-ai "${OPENCODE_VERSION}"

FROM foundation
LABEL org.opencontainers.image.title="mahabharatha-worker" \
      org.opencontainers.image.description="Runs one Mahabharatha worker: git, Node, agents and the worker program." \
      org.opencontainers.image.licenses="MIT"
# Updates would change the fixed version, and the root file system is read-only.
ENV HOME=/home/worker \
    LANG=C.UTF-8 \
    DISABLE_UPDATES=1 \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
COPY --from=agents /out/ /
COPY docker/worker/healthcheck.sh docker/worker/init.sh /opt/mahabharatha/

# What makes it a worker: these lines, up to the next empty one, are repeated at the end of a repository's own Dockerfile.
USER 1000:1000
WORKDIR /workspace
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=2 CMD ["/bin/sh", "/opt/mahabharatha/healthcheck.sh"]
ENTRYPOINT ["/opt/mahabharatha/worker-init", "-p", "/opt/mahabharatha/init.sh", "/opt/mahabharatha/node", "/opt/mahabharatha/worker.mjs", "--worktree", "/workspace", "--inbox", "/run/mahabharatha/inbox", "--outbox", "/run/mahabharatha/outbox", "--shared", "/run/mahabharatha/shared"]
CMD []

# Last, because these change most often: all before them then comes from the cache.
COPY dist/bundle/egress/egress.js /opt/mahabharatha/egress.mjs
COPY dist/bundle/worker/worker.js /opt/mahabharatha/worker.mjs
