export const CONTENT_LABEL = 'mahabharatha.content';
export const VERSION_LABEL = 'mahabharatha.version';

/** For the user: it removes all images of ours that no container uses. Podman has the same command. */
export const PRUNE_COMMAND = `docker image prune --all --filter label=${CONTENT_LABEL}`;
