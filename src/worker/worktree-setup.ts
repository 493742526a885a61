import { existsSync } from 'node:fs';
import type { Leftovers, OpenedPlace } from '../git/index.ts';
import { inSeconds } from '../lib/index.ts';
import type { Boot } from '../protocol/index.ts';
import type { WorkerContext } from './context.ts';
import { emptyFolders } from './remove-tree.ts';
import { copiedFiles, copyFiles } from './copy-files.ts';
import { runShell } from './shell-step.ts';
import { recordSetup } from './setup-record.ts';
import type { SetupRecord } from './setup-record.ts';

/** The set-up failed: no task can be done, so the run stops. */
export class SetupFailed extends Error {
  override readonly name = 'SetupFailed';
}

export type WorktreeSetup = ReturnType<typeof createWorktreeSetup>;

/** What a spare has done while it waited for its handover. */
export interface EarlyCheckout extends Known {
  /** The worktree is at this commit. */
  readonly base: string;
  readonly place: OpenedPlace;
}

/** Makes the worktree the commit that the assignment most likely starts from. Nothing of a task has run here. */
export async function checkOutEarly(
  context: Pick<WorkerContext, 'boot' | 'workspace'>,
  base: string,
): Promise<EarlyCheckout> {
  const installation = createInstallation(context);
  if (context.boot.setUp) {
    await installation.takeOver();
    await installation.tidy(base);
  } else {
    await context.workspace.fill(base);
  }
  return { ...installation.known, base, place: context.workspace.place };
}

export function createWorktreeSetup(context: WorkerContext, early: EarlyCheckout | null) {
  const { boot, workspace } = context;
  const installation = createInstallation(context, early ?? NOTHING);
  /** The base at which the worktree is clean; null when that is not known, as after the set-up of another worker. */
  let tidied: Promise<string | null> =
    boot.setUp && early === null
      ? installation.takeOver().then(() => null)
      : Promise.resolve(early?.base ?? boot.checkedOut);
  // It is awaited with the first assignment.
  tidied.catch(() => undefined);
  return {
    /** Files of the set-up and copied files that no ignore rule covers: no task's work, unless a task declares them. */
    get leftovers(): Leftovers {
      return installation.known.leftovers;
    },
    /** Resolves when no tidying is under way any more. */
    settled: async (): Promise<void> => void (await tidied),
    /** Cleans the worktree while there is no work: the next task most likely starts from the same base. */
    tidyUp: (base: string): void => {
      // When it fails, the next task's own reset reports why.
      tidied = installation
        .tidy(base)
        .then(() => base)
        .catch(() => null);
    },
    /** Makes the worktree exactly `base`, with the copied files and what the set-up makes. */
    prepare: async ({ base, fresh }: { base: string; fresh: boolean }): Promise<void> => {
      if (fresh) await emptyFolders(context.scratch);
      const at = await tidied;
      tidied = Promise.resolve(null);
      if (fresh) await installation.clear(base);
      else if (at !== base)
        await (at !== null && at === early?.base ? installation.move(at, base) : installation.tidy(base));
      const copies = context.copies.find((folder) => existsSync(folder));
      const copied = copies !== undefined && (await copyFiles(copies, workspace.folder));
      if (boot.setup !== null) await installation.install(context, { ...boot.setup, base, copies });
      else if (copied || fresh) await installation.look();
    },
  };
}

interface Installed {
  /** State of the lock files at that time. */
  readonly locks: string;
  /** Undefined where nothing comes after the first assignment. */
  readonly record: SetupRecord | undefined;
}

interface Known {
  readonly leftovers: Leftovers;
  /** The last set-up; undefined when what it made is not there. */
  readonly installed: Installed | undefined;
}

interface Wanted extends NonNullable<Boot['setup']> {
  readonly base: string;
  /** The folder of the files that are copied into the worktree. */
  readonly copies: string | undefined;
}

/** Of what the set-up makes. */
const COPIED_BYTES = 32 * 1024 ** 2;

const NOTHING: Known = { leftovers: { paths: [], files: new Set() }, installed: undefined };

/** What the set-up has made in the worktree. */
function createInstallation({ boot, workspace }: Pick<WorkerContext, 'boot' | 'workspace'>, begin = NOTHING) {
  let { leftovers, installed } = begin;

  const reset = { branch: boot.branch, ignoredToo: false };
  const tidy = (base: string): Promise<void> => workspace.reset({ ...reset, base, keep: leftovers.paths });
  const look = async (): Promise<void> => void (leftovers = await workspace.leftovers());
  return {
    get known(): Known {
      return { leftovers, installed };
    },
    look,
    /** Another worker has run the set-up here, at the commit of the index. */
    takeOver: async (): Promise<void> => {
      installed = { locks: await workspace.lockSignature(), record: undefined };
      await look();
    },
    /** The worktree at the base; what is ignored stays, and what the set-up has made. */
    tidy,
    /** The same from a commit that was checked out early. */
    move: (from: string, base: string): Promise<void> =>
      workspace.moveTo({ from, to: base, branch: boot.branch }).catch(() => tidy(base)),
    /** The worktree as if nothing had been in it before; what the set-up made stays if nothing has touched it. */
    clear: async (base: string): Promise<void> => {
      if (installed?.record !== undefined) {
        await tidy(base);
        const isSame = installed.locks === (await workspace.lockSignature());
        if (isSame && (await installed.record.restore())) return;
      }
      installed = undefined;
      await workspace.reset({ ...reset, base, ignoredToo: true, keep: [] });
    },
    /** Runs the set-up, unless what it makes is there. */
    install: async (context: WorkerContext, { base, copies, ...setup }: Wanted): Promise<void> => {
      const locks = await workspace.lockSignature();
      if (installed?.locks === locks) return;
      installed = undefined;
      await runSetup(context, setup);
      await look();
      // Changes that the set-up made to tracked files are not the task's work either.
      await tidy(base);
      const record = boot.singleUse ? undefined : await recordOf(context, copies);
      installed = { locks, record };
    },
  };
}

function recordOf({ workspace, setupCopies }: WorkerContext, copies: string | undefined): Promise<SetupRecord> {
  const { folder, tracked } = workspace;
  const copied = async (): Promise<readonly string[]> => (copies === undefined ? [] : copiedFiles(copies));
  return recordSetup({ folder, tracked, copied }, { folder: setupCopies, bytes: COPIED_BYTES });
}

async function runSetup(context: WorkerContext, { command, timeoutMs }: NonNullable<Boot['setup']>): Promise<void> {
  const { log, reporter } = context;
  await reporter.update({ phase: 'setup' });
  log.line('worker', `set-up: ${command}`);
  const result = await runShell(context, { source: 'setup', command, timeoutMs, log });
  if (result.ok) return log.line('worker', `set-up done in ${inSeconds(result.durationMs)}`);
  if (!result.stopped) throw new SetupFailed(`the set-up "${command}" failed: ${result.detail}\n${result.output}`);
}
