import { FEATURE_TRAILER } from '../protocol/index.ts';
import { otherBranches } from './feature-traces.ts';
import { entriesOf } from './git-command.ts';
import type { Repository } from './repository.ts';

const LINE = new RegExp(`^${FEATURE_TRAILER}: (\\S+)$`, 'gm');

/** Features whose work another branch or tag has, each with the newest commit that says so. Reads the whole history. */
export async function mergedFeatures(repository: Repository): Promise<ReadonlyMap<string, string>> {
  const others = await otherBranches(repository, 'mahabharatha/');
  const args = ['log', '-z', `--grep=^${FEATURE_TRAILER}: `, '--format=%H%n%B', '--ignore-missing', ...others];
  const newestFirst = entriesOf(await repository.git.text(args));
  return new Map(newestFirst.toReversed().flatMap(featuresIn));
}

function featuresIn(entry: string): (readonly [feature: string, commit: string])[] {
  const commit = entry.slice(0, entry.indexOf('\n'));
  return [...entry.matchAll(LINE)].map(([, feature = '']) => [feature, commit]);
}
