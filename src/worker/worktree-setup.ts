import { existsSync } from 'node:fs';
import type { Leftovers } from '../git/index.ts';
import { inSeconds } from '../lib/index.ts';
import type { WorkerContext } from './context.ts';
import { emptyFolders } from './remove-tree.ts';
import { copyFiles } from './copy-files.ts';
import { runShell } from './shell-step.ts';

/** A set-up that did not work: no task can be done here, so the run stops. */
export class SetupFailed extends Error {
  override readonly name = 'SetupFailed';
}

export interface WorktreeSetup {
  /** Makes the worktree exactly `base`, and usable: copied files are there and the set-up has run. */
  prepare(options: { base: string; fresh: boolean }): Promise<void>;
  /** Makes it clean again while nothing waits: the next task most likely starts from the same base. */
  tidyUp(base: string): void;
  /** Resolves when no tidying is under way any more. */
  settled(): Promise<void>;
  /** What set-up and copies made and no ignore rule covers: it is no task's work, unless a task declares it. */
  readonly leftovers: Leftovers;
}

export function createWorktreeSetup(context: WorkerContext): WorktreeSetup {
  const { boot, workspace } = context;
  let leftovers: Leftovers = { paths: [], files: new Set() };
  /** State of the lock files at the last set-up; undefined when what it made is not there. */
  let installed: string | undefined;
  let tidying: { readonly base: string; readonly done: Promise<boolean> } | undefined =
    boot.checkedOut === null ? undefined : { base: boot.checkedOut, done: Promise.resolve(true) };

  const isTidy = async (base: string): Promise<boolean> => {
    const done = (await tidying?.done) === true && tidying?.base === base;
    tidying = undefined;
    return done;
  };

  const runSetup = async (command: string, timeoutMs: number): Promise<void> => {
    await context.reporter.update({ phase: 'setup' });
    context.log.line('worker', `set-up: ${command}`);
    const result = await runShell(context, { source: 'setup', command, timeoutMs, log: context.log });
    if (result.ok) return context.log.line('worker', `set-up done in ${inSeconds(result.durationMs)}`);
    if (!result.stopped) throw new SetupFailed(`the set-up "${command}" failed: ${result.detail}\n${result.output}`);
  };

  return {
    get leftovers() {
      return leftovers;
    },
    settled: async () => {
      await tidying?.done;
    },
    tidyUp: (base) => {
      const reset = workspace.reset({ base, branch: boot.branch, ignoredToo: false, keep: leftovers.paths });
      // Where it fails, the next task's own reset says why.
      tidying = {
        base,
        done: reset.then(
          () => true,
          () => false,
        ),
      };
    },
    prepare: async ({ base, fresh }) => {
      if (fresh) await emptyFolders(context.scratch);
      const tidy = (await isTidy(base)) && !fresh;
      if (!tidy) {
        await workspace.reset({ base, branch: boot.branch, ignoredToo: fresh, keep: fresh ? [] : leftovers.paths });
      }
      const copies = context.copies.find((folder) => existsSync(folder));
      const copied = copies !== undefined && (await copyFiles(copies, workspace.folder));
      if (boot.setup === null) {
        if (copied || fresh) leftovers = await workspace.leftovers();
        return;
      }
      const wanted = await workspace.lockSignature();
      if (!fresh && installed === wanted) return;
      installed = undefined;
      await runSetup(boot.setup.command, boot.setup.timeoutMs);
      leftovers = await workspace.leftovers();
      // What the set-up did to files that git knows is not the task's work either.
      await workspace.reset({ base, branch: boot.branch, ignoredToo: false, keep: leftovers.paths });
      installed = wanted;
    },
  };
}
