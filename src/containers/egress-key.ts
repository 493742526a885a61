import { randomBytes } from 'node:crypto';
import type { Engine } from '../engines/index.ts';
import { keyedDigest } from '../lib/index.ts';
import { egressIdentity } from '../protocol/index.ts';
import type { EgressReach } from '../protocol/index.ts';
import type { Owner } from './owner.ts';
import { EGRESS_ROLE, LABEL, ownerLabels } from './owner.ts';

/** The volume with the socket of an owner's egress proxy, and the name of that proxy. */
export function egressVolume(ownerId: string): string {
  return `mahabharatha-egress-${ownerId}`;
}

/**
 * Makes the volume on which an owner's egress proxy listens, and the key by which that proxy knows its clients. The key
 * is a label of the volume, so that a resumed owner finds it again; no program in a container can read a label.
 */
export async function egressKey(engine: Engine, owner: Pick<Owner, 'id' | 'kind' | 'labels'>): Promise<string> {
  const name = egressVolume(owner.id);
  const labels = { ...ownerLabels(owner), [LABEL.role]: EGRESS_ROLE };
  const there = (await engine.listVolumes(labels)).find((volume) => volume.name === name);
  const known = there?.labels[LABEL.egressKey];
  if (known !== undefined) return known;
  const key = randomBytes(32).toString('hex');
  await engine.createVolume(name, { ...labels, [LABEL.egressKey]: key });
  return key;
}

/** With it a client proves its number to the proxy, for one way. */
export function egressToken(key: string, client: number, to?: EgressReach): string {
  return keyedDigest(key, egressIdentity(client, to));
}
