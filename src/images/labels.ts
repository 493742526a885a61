export const CONTENT_LABEL = 'mahabharatha.content';
export const VERSION_LABEL = 'mahabharatha.version';

/** Removes every image of ours that no container uses, for Docker and (by its own name) Podman. Nothing here runs it. */
export const PRUNE_COMMAND = `docker image prune --all --filter label=${CONTENT_LABEL}`;
