import type { Labels } from '../engines/index.ts';

/** Labels show what in the engine is ours; names never do. */
export const LABEL = {
  owner: 'mahabharatha.owner',
  /** What kind of owner it is. */
  kind: 'mahabharatha.kind',
  /** What a container is for. */
  role: 'mahabharatha.role',
  /** One life of one container. */
  session: 'mahabharatha.session',
  /** On shared caches, which stay when their owners go: their repository. */
  cache: 'mahabharatha.cache',
  /** On the cache volumes of a session's project, and on the container that has them: which cache it is. */
  sessionCache: 'mahabharatha.session-cache',
  /** On the same volumes: the user whose files are in them. */
  sessionCacheUser: 'mahabharatha.session-cache-user',
  /** On the same volumes: whose caches are counted together, as a digest. */
  sessionCacheOf: 'mahabharatha.session-cache-of',
  /** On the volume of an egress proxy: the key with which the proxy checks its clients. */
  egressKey: 'mahabharatha.egress-key',
  /** On an egress proxy: which access to the model it was given, as a keyed digest; empty for none. */
  egressAccess: 'mahabharatha.egress-access',
} as const;

/** The role of an egress proxy. */
export const EGRESS_ROLE = 'egress';

/** A run, a person's shell, a server or an mcp session. When it ends, everything with its label is removed. */
export interface Owner {
  readonly id: string;
  readonly kind: 'run' | 'shell' | 'server' | 'mcp';
  /** More labels of its containers and volumes, by which people and clean-up find them. */
  readonly labels: Labels;
  /** Has the owner's lease, which its egress proxy watches. */
  readonly leaseFolder: string;
  /** The file for what the egress proxy refused. */
  readonly egressLog: string;
}

export function ownerLabels({ id, kind, labels }: Pick<Owner, 'id' | 'kind' | 'labels'>): Labels {
  return { ...labels, [LABEL.owner]: id, [LABEL.kind]: kind };
}
