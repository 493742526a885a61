/** By these, and never by its name, something in the engine is known to be ours. */
export const LABEL = {
  owner: 'mahabharatha.owner',
  /** Of the owner. */
  kind: 'mahabharatha.kind',
  /** What a container is for. */
  role: 'mahabharatha.role',
  /** One life of one container. */
  session: 'mahabharatha.session',
  /** On shared caches, which no owner takes along: the repository they belong to. */
  cache: 'mahabharatha.cache',
  /** On the volume of an egress proxy: the key by which the proxy knows its clients. */
  egressKey: 'mahabharatha.egress-key',
} as const;

/** The role of an egress proxy. */
export const EGRESS_ROLE = 'egress';
