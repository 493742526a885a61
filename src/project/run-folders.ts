import { existsSync } from 'node:fs';
import path from 'node:path';
import { removeGoneRuns } from '../state/index.ts';
import type { FeaturePaths } from '../state/index.ts';
import type { Environment } from '../lib/index.ts';
import type { Project } from './project.ts';

/** All folders in which worktrees of a feature's workers may be, those of earlier versions included. */
export function runFolders({ workers, formerly }: FeaturePaths): readonly string[] {
  return [workers, ...formerly];
}

/** Says which repositories are gone whose runs have left folders. One that cannot be removed is in no run's way. */
export async function clearGoneRuns(env: Environment): Promise<string[]> {
  const roots = await removeGoneRuns(env, Date.now()).catch((): string[] => []);
  return [...new Set(roots)].map((root) => `removed what workers of ${root} had left: that repository is gone`);
}

/** Locks and states belong to a working tree, branches and refs to the repository: another one may have the run. */
export async function otherOwner({ repository }: Project, feature: string): Promise<string | undefined> {
  const others = (await repository.listWorktrees()).map(({ folder }) => folder);
  return others.find(
    (root) => root !== repository.root && existsSync(path.join(root, '.mahabharatha', 'state', `${feature}.json`)),
  );
}
