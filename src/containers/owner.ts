import type { Labels } from '../engines/index.ts';
import { LABEL } from './labels.ts';

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
