import { z } from 'zod';
import { digestOf, readJson } from '../lib/index.ts';
import type { Labels } from '../engines/index.ts';
import { NOT_OURS, differences, partsOf } from './parts.ts';
import type { Parts } from './parts.ts';

/** For which checkout it was built, as a digest: images are passed on, and must not tell paths of this machine. */
export const CHECKOUT_LABEL = 'mahabharatha.checkout';
/** Its own parts, beside those of the worker image. */
const OWN_PARTS_LABEL = 'mahabharatha.repository-parts';

const ownPartsSchema = z.object({ dockerfile: z.string(), companions: z.string() });

export interface RepositoryParts {
  readonly own: Readonly<z.infer<typeof ownPartsSchema>>;
  readonly worker: Parts;
}

/** Pure. The digest of a checkout's `.mahabharatha` folder, for the label. */
export function checkoutKey(folder: string): string {
  return digestOf(folder).slice(0, 16);
}

export function ownPartsLabel({ own }: RepositoryParts): Labels {
  return { [OWN_PARTS_LABEL]: JSON.stringify(own) };
}

/** Undefined when it is not a repository's image, or of a version with other parts. */
export function repositoryPartsOf(labels: Labels): RepositoryParts | undefined {
  const worker = partsOf(labels);
  const own = readJson(ownPartsSchema, labels[OWN_PARTS_LABEL]);
  return own === undefined || worker === undefined ? undefined : { own, worker };
}

/** Pure. How an image of other content differs, in words. */
export function repositoryDifferences(wanted: RepositoryParts, found: RepositoryParts): string[] {
  const reasons = differences(wanted.worker, found.worker);
  if (wanted.own.dockerfile !== found.own.dockerfile) reasons.push('.mahabharatha/Dockerfile has changed');
  if (wanted.own.companions !== found.own.companions) reasons.push('a file in .mahabharatha/docker has changed');
  return reasons.length > 0 ? reasons : [NOT_OURS];
}
