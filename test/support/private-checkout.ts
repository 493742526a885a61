import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect } from 'vitest';
import { openRepository, openWorkspace } from '../../src/git/index.ts';
import type { Repository, Workspace } from '../../src/git/index.ts';
import { writeFile } from './temp-repository.ts';
import type { TempRepository } from './temp-repository.ts';

export const BRANCH = 'mahabharatha/x/worker-0';

/** A worker with a git directory of its own, without any of the user's settings around it: as in a container. */
export interface PrivateWorker {
  readonly repository: Repository;
  readonly workspace: Workspace;
  readonly folder: string;
  readonly gitDir: string;
  readonly base: string;
  git(...args: readonly string[]): string;
  write(file: string, text: string): void;
  commit(): Promise<string>;
  /** Fetches the commit from a bundle as a run does; returns the paths that it changes. */
  fetchBundle(commit: string): Promise<string[]>;
}

/** `at` is the user's current folder: the repository or another working tree of it. */
export async function openPrivate(temp: TempRepository, at: string = temp.folder): Promise<PrivateWorker> {
  const repository = await openRepository(at, temp.env);
  const top = path.join(repository.root, '.mahabharatha');
  const [folder, gitDir] = [path.join(top, 'worktrees', 'worker-0'), path.join(top, 'git', 'worker-0')];
  const base = await repository.resolve('HEAD');
  const inside = { worktree: folder, gitDir, objects: await repository.objectFolders() };
  await repository.addPrivateCheckout({ folder, gitDir, branch: BRANCH, base, index: null, inside });
  const env = otherUserIn(path.join(top, 'home'));
  const workspace = await openWorkspace(folder, env);
  await workspace.reset({ base, branch: BRANCH, ignoredToo: false, keep: [] });
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
  return {
    repository,
    workspace,
    folder,
    gitDir,
    base,
    git,
    write: (file, text) => writeFile(path.join(folder, file), text),
    commit: async () => {
      const left = { paths: [], files: new Set<string>() };
      const tree = await workspace.stage({ base, branch: BRANCH, left, owned: () => [] });
      return workspace.commit({ base, tree, message: 'T-1: do it', branch: BRANCH });
    },
    fetchBundle: async (commit) => {
      const file = path.join(top, 'work.bundle');
      await workspace.bundle({ branch: BRANCH, base, commit, file });
      const facts = await repository.factsOf(await repository.fetchBundle({ file, branch: BRANCH }));
      expect(facts.parents).toEqual([base]);
      expect(facts).toEqual(await repository.commitFacts(commit));
      await repository.changeRefs([{ ref: `refs/heads/${BRANCH}`, to: commit }]);
      return facts.changed.toSorted();
    },
  };
}

/** The environment of another user, with nothing but PATH and a home folder. */
function otherUserIn(home: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
}
