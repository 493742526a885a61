import { gitErrors } from '../git/errors.ts';
import { blobText, mergeInto } from '../git/index.ts';
import type { MergedInto } from '../git/index.ts';
import { provePublished } from '../orchestrator/index.ts';
import { inOneLine } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { FEATURE_TRAILER, TIP_TRAILER } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { projectErrors } from './errors.ts';
import { readRun } from './left-work.ts';
import { checkAtRest } from './project.ts';
import type { Project } from './project.ts';
import { changedParts, isPackageFile, steeringChanges } from './steering-changes.ts';
import type { SteeringChange } from './steering-changes.ts';

/** So many package.json files are compared; further ones are reported as not read. */
const READ_PACKAGES = 50;
const PACKAGE_BYTES = 1024 * 1024;

export interface MergeWishes {
  readonly feature: string;
  /** The branch to merge into; undefined for the one that is checked out. */
  readonly into: string | undefined;
  /** Also when the run is not complete. */
  readonly partial: boolean;
  /** As one commit, without the history of its tasks. */
  readonly squash: boolean;
  readonly dryRun: boolean;
  readonly env: Environment;
}

export interface MergedRun extends MergedInto {
  readonly from: string;
  readonly into: string;
  /** Of the run. */
  readonly status: RunState['status'];
  /** Changed files that tools or later runs obey. */
  readonly steering: readonly SteeringChange[];
}

/** Moves a branch of the user; nothing else does. */
export async function mergeRun(project: Project, wishes: MergeWishes): Promise<MergedRun> {
  const { feature, partial, squash, dryRun, env } = wishes;
  const state = await finishedState(project, feature, partial);
  await provePublished(project, state);
  const into = await targetBranch(project, wishes.into);
  const result = await mergeInto(project.repository, {
    from: state.integration,
    into,
    message: (commit) => (squash ? squashMessage(state, commit) : mergeMessage(state)),
    squash,
    dryRun,
    env,
  });
  return {
    from: state.integration,
    into,
    status: state.status,
    ...result,
    steering: await steeringOf(project, result),
  };
}

export function mergeMessage({ feature, runId, tasks }: RunState): string {
  const all = Object.values(tasks);
  const done = all.filter((task) => task.merged).length;
  return `Merge feature ${feature}\n\n${done} of ${all.length} tasks.\n\n${FEATURE_TRAILER}: ${feature}\nMahabharatha-Run: ${runId}\n`;
}

/** With the commit whose work it has: no history leads there. */
function squashMessage({ feature, runId, tasks }: RunState, commit: string): string {
  // A line of a title could look like a trailer.
  const merged = Object.entries(tasks).flatMap(([id, { title, merged }]) =>
    merged ? [`- ${id}: ${inOneLine(title)}`] : [],
  );
  const trailers = [`${FEATURE_TRAILER}: ${feature}`, `Mahabharatha-Run: ${runId}`, `${TIP_TRAILER}: ${commit}`];
  return `Add feature ${feature}\n\n${merged.join('\n')}\n\n${trailers.join('\n')}\n`;
}

export async function steeringOf(
  { repository }: Project,
  { files, before, commit }: MergedInto,
): Promise<SteeringChange[]> {
  const packages = new Map<string, string>();
  for (const file of files.filter(isPackageFile).slice(0, READ_PACKAGES)) {
    const [old, now] = await Promise.all(
      [before, commit].map((at) => blobText(repository.git, { commit: at, file, maxBytes: PACKAGE_BYTES })),
    );
    packages.set(file, changedParts(old, now));
  }
  return steeringChanges(files, packages);
}

export async function finishedState(project: Project, feature: string, partial: boolean): Promise<RunState> {
  const store = project.store(feature);
  const state = await readRun(project, feature);
  await checkAtRest(store, feature);
  if (state.status !== 'complete' && !partial) {
    throw projectErrors.MERGE_NOT_READY({
      feature,
      status: state.status === 'running' ? 'broken off' : state.status,
    });
  }
  const { integration: branch } = state;
  if ((await project.repository.readRef(`refs/heads/${branch}`)) === undefined)
    throw projectErrors.MERGE_BRANCH_GONE({ feature, branch });
  return state;
}

export async function targetBranch(project: Project, named: string | undefined): Promise<string> {
  const branch = named ?? (await project.repository.currentBranch());
  if (branch === undefined)
    throw projectErrors.MERGE_TARGET_UNCLEAR({ reason: 'no branch is checked out (detached HEAD)' });
  if ((await project.repository.readRef(`refs/heads/${branch}`)) === undefined)
    throw gitErrors.REF_UNKNOWN({ ref: branch });
  return branch;
}
