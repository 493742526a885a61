import { existsSync } from 'node:fs';
import type { Leftovers } from '../git/index.ts';
import { inSeconds } from '../lib/index.ts';
import type { Boot } from '../protocol/index.ts';
import type { WorkerContext } from './context.ts';
import { emptyFolders } from './remove-tree.ts';
import { copyFiles } from './copy-files.ts';
import { runShell } from './shell-step.ts';

/** The set-up failed: no task can be done, so the run stops. */
export class SetupFailed extends Error {
  override readonly name = 'SetupFailed';
}

export type WorktreeSetup = ReturnType<typeof createWorktreeSetup>;

export function createWorktreeSetup(context: WorkerContext) {
  const { boot, workspace } = context;
  let leftovers: Leftovers = { paths: [], files: new Set() };
  /** State of the lock files at the last set-up; undefined when what it made is not there. */
  let installed: string | undefined;
  /** The base at which the worktree is clean; null when that is not known. */
  let tidied: Promise<string | null> = Promise.resolve(boot.checkedOut);

  const reset = (base: string, { ignoredToo }: { ignoredToo: boolean }): Promise<void> => {
    const keep = ignoredToo ? [] : leftovers.paths;
    return workspace.reset({ base, branch: boot.branch, ignoredToo, keep });
  };
  const install = async (setup: NonNullable<Boot['setup']>, base: string, fresh: boolean): Promise<void> => {
    const wanted = await workspace.lockSignature();
    if (!fresh && installed === wanted) return;
    installed = undefined;
    await runSetup(context, setup);
    leftovers = await workspace.leftovers();
    // Changes that the set-up made to tracked files are not the task's work either.
    await reset(base, { ignoredToo: false });
    installed = wanted;
  };

  return {
    /** Files of the set-up and copied files that no ignore rule covers: no task's work, unless a task declares them. */
    get leftovers(): Leftovers {
      return leftovers;
    },
    /** Resolves when no tidying is under way any more. */
    settled: async (): Promise<void> => void (await tidied),
    /** Cleans the worktree while there is no work: the next task most likely starts from the same base. */
    tidyUp: (base: string): void => {
      // When it fails, the next task's own reset reports why.
      tidied = reset(base, { ignoredToo: false })
        .then(() => base)
        .catch(() => null);
    },
    /** Makes the worktree exactly `base`, with the copied files and what the set-up makes. */
    prepare: async ({ base, fresh }: { base: string; fresh: boolean }): Promise<void> => {
      if (fresh) await emptyFolders(context.scratch);
      const isTidy = (await tidied) === base;
      tidied = Promise.resolve(null);
      if (fresh || !isTidy) await reset(base, { ignoredToo: fresh });
      const copies = context.copies.find((folder) => existsSync(folder));
      const copied = copies !== undefined && (await copyFiles(copies, workspace.folder));
      if (boot.setup !== null) await install(boot.setup, base, fresh);
      else if (copied || fresh) leftovers = await workspace.leftovers();
    },
  };
}

async function runSetup(context: WorkerContext, { command, timeoutMs }: NonNullable<Boot['setup']>): Promise<void> {
  const { log, reporter } = context;
  await reporter.update({ phase: 'setup' });
  log.line('worker', `set-up: ${command}`);
  const result = await runShell(context, { source: 'setup', command, timeoutMs, log });
  if (result.ok) return log.line('worker', `set-up done in ${inSeconds(result.durationMs)}`);
  if (!result.stopped) throw new SetupFailed(`the set-up "${command}" failed: ${result.detail}\n${result.output}`);
}
