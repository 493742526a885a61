import type { Labels } from '../engines/index.ts';

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

/** What has containers. When it ends, everything with its label goes. */
export interface Owner {
  readonly id: string;
  readonly kind: 'run' | 'server' | 'mcp';
  /** What else its containers and volumes are labelled with: by it, people and clean-up find them. */
  readonly labels: Labels;
  /** Holds the owner's sign of life, which its egress proxy watches. */
  readonly leaseFolder: string;
  /** Takes what the egress proxy refused. */
  readonly egressLog: string;
}

export function ownerLabels({ id, kind, labels }: Pick<Owner, 'id' | 'kind' | 'labels'>): Labels {
  return { ...labels, [LABEL.owner]: id, [LABEL.kind]: kind };
}
