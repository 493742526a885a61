import { FEATURE_TRAILER } from '../protocol/index.ts';
import { OTHER_BRANCHES } from './feature-traces.ts';
import { entriesOf } from './git-command.ts';
import type { Repository } from './repository.ts';

const LINE = new RegExp(`^${FEATURE_TRAILER}: (\\S+)$`, 'gm');

/** Features whose work another branch or tag has, each with the newest commit that says so. Reads the whole history. */
export async function mergedFeatures(repository: Repository): Promise<ReadonlyMap<string, string>> {
  // Where CI builds, often no branch is checked out: then a run would begin at HEAD.
  const head = (await repository.currentBranch())?.startsWith('mahabharatha/') === true ? [] : ['HEAD'];
  const wanted = ['-z', `--grep=^${FEATURE_TRAILER}: `, '--format=%H%n%B', '--ignore-missing'];
  const args = ['log', ...wanted, ...OTHER_BRANCHES, ...head];
  const newestFirst = entriesOf(await repository.git.text(args));
  return new Map(newestFirst.toReversed().flatMap(featuresIn));
}

function featuresIn(entry: string): (readonly [feature: string, commit: string])[] {
  const commit = entry.slice(0, entry.indexOf('\n'));
  return [...entry.matchAll(LINE)].map(([, feature = '']) => [feature, commit]);
}
