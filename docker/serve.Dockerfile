# The image in which `mahabharatha serve` itself runs, beside the containers that it makes: see docs/serve.md. From the root of
# a checkout, after `npm run build`:
#   docker build -f docker/serve.Dockerfile -t mahabharatha-serve .
ARG BASE_IMAGE=node:24-bookworm-slim

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="mahabharatha-serve" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /opt/mahabharatha
# What it builds the image with Node and the sandbox agent from.
COPY docker docker
COPY package.json ./
COPY bin bin
COPY schemas schemas
COPY dist/bundle dist/bundle
# The settings of the server are those of this folder. Who mounts them there has approved them.
WORKDIR /etc/mahabharatha
ENV NODE_ENV=production XDG_STATE_HOME=/run/mahabharatha
EXPOSE 8000
ENTRYPOINT ["node", "/opt/mahabharatha/bin/mahabharatha.js"]
CMD ["serve", "--host", "0.0.0.0", "--token-file", "/run/secrets/tokens", "--trust-config"]
