import { randomBytes } from 'node:crypto';
import type { Engine } from '../engines/index.ts';
import { keyedDigest } from '../lib/index.ts';
import { egressIdentity } from '../protocol/index.ts';
import type { WorkerSpec } from '../launchers/launcher.ts';
import { egressVolume } from '../launchers/container/container-spec.ts';
import { LABEL, runLabels } from './labels.ts';

/**
 * Makes the volume on which a run's egress proxy listens, and the key by which that proxy knows its workers. The key is
 * on the volume, so that whoever resumes the run has the same one: nobody inside a container sees a label.
 */
export async function egressKey(
  engine: Engine,
  run: Pick<WorkerSpec, 'runId' | 'feature'>,
  repo: string,
): Promise<string> {
  const name = egressVolume(run.runId);
  const labels = { ...runLabels({ ...run, repo }), [LABEL.role]: 'egress' };
  const there = (await engine.listVolumes(labels)).find((volume) => volume.name === name);
  const known = there?.labels[LABEL.egressKey];
  if (known !== undefined) return known;
  const key = randomBytes(32).toString('hex');
  await engine.createVolume(name, { ...labels, [LABEL.egressKey]: key });
  return key;
}

/** By which a worker proves to the proxy that it is the one it says. */
export function egressToken(key: string, worker: number): string {
  return keyedDigest(key, egressIdentity(worker));
}
