import { listed } from '../lib/index.ts';
import { attemptRef, branchNames, trialRef } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { commitLost } from './decide-losses.ts';
import { trialBroken } from './decide-merge.ts';
import type { Journal } from './journal.ts';
import { hasWork } from './plan.ts';
import type { RunContext } from './ports.ts';

const SHOWN = 5;

/** After a loss of power refs may be broken and objects missing: refs are made again, and tasks without their commit done again. */
export async function repairAfterCrash(context: RunContext, journal: Journal): Promise<void> {
  const { ports, graph } = context;
  const empty = await ports.repository.removeEmptyObjects();
  if (empty.length > 0) {
    const text = `these objects were empty files, and are removed to be written again: ${listed(empty, SHOWN)}`;
    journal.record({ type: 'warning', text });
  }
  const broken = await ports.repository.repairRefs(graph.feature, knownRefs(journal.state));
  if (broken.length > 0) {
    const text = `these refs were broken and have been made again, or removed where nothing is known of them: ${broken.join(', ')}`;
    journal.record({ type: 'warning', text });
  }
  await redoBroken(context, journal, 'nothing');
}

/** Tasks whose work is there and not published, and not whole in the repository any more, are done again. */
async function redoBroken(context: RunContext, journal: Journal, charge: 'nothing' | 'loss'): Promise<void> {
  const { ports, graph } = context;
  for (const [id, task] of Object.entries(journal.state.tasks)) {
    const attempt = task.attempts.at(-1);
    const commit = task.status === 'complete' && !task.merged ? task.commit : null;
    const work = attempt !== undefined && hasWork(attempt) ? attempt.commit : commit;
    if (work === null || attempt === undefined) continue;
    if (await ports.repository.isWhole(work, attempt.base)) continue;
    // A ref to half a commit would make every git fsck and gc of the repository fail.
    await ports.repository.changeRefs([{ ref: attemptRef(graph.feature, id, attempt.number), to: null }]);
    journal.record(commitLost({ id, attempt }, work, charge).event);
  }
}

interface Merges {
  readonly level: number;
  readonly tip: string;
  /** Tasks that are being merged. */
  readonly tasks: readonly string[];
}

/**
 * A `git prune` in the repository also removes objects that were made while it ran. When objects of a level's merges or of
 * their tasks are gone, the merges are dropped and made anew. False when everything is there.
 */
export async function dropIfBroken(context: RunContext, journal: Journal, merges: Merges): Promise<boolean> {
  if (await isWhole(context, journal.state, merges)) return false;
  await redoBroken(context, journal, 'loss');
  await context.ports.repository.changeRefs([{ ref: trialRef(context.graph.feature), to: null }]);
  journal.record(trialBroken(merges.level).event);
  return true;
}

/**
 * A prune may also have taken objects of a worker's last commit, or of merges that were dropped. All that counts of these
 * is kept by other refs, and with a broken one the user's `git gc` fails.
 */
export async function removeBrokenRefs({ ports, graph }: RunContext, { integrationTip }: RunState): Promise<void> {
  const { repository } = ports;
  const refs = [
    ...(await repository.listRefs(`refs/heads/${branchNames(graph.feature).prefix}`)),
    ...(await repository.listRefs(trialRef(graph.feature))),
  ].filter(({ ref }) => /\/(worker-\d+|@trial)$/.test(ref));
  await repository.removeReflogs(refs.map(({ ref }) => ref));
  const commits = refs.map(({ commit }) => commit);
  if (await repository.isWhole(commits, integrationTip)) return;
  for (const { ref, commit } of refs)
    if (!(await repository.isWhole(commit, integrationTip)))
      await repository.changeRefs([{ ref, to: null, from: commit }]);
}

async function isWhole({ ports }: RunContext, state: RunState, { tip, tasks }: Merges): Promise<boolean> {
  if (!(await ports.repository.isWhole(tip, state.integrationTip))) return false;
  for (const id of tasks) {
    const { commit = null, attempts = [] } = state.tasks[id] ?? {};
    const base = attempts.at(-1)?.base;
    if (commit !== null && base !== undefined && !(await ports.repository.isWhole(commit, base))) return false;
  }
  return true;
}

/**
 * A kill between the move of the integration branch and its event leaves the branch ahead of the state. Then the branch is
 * moved back: its new work is still in the trial, and is published when its gates have run again. A branch with commits of
 * a person stays as it is.
 */
export async function takeBackUnrecorded({ ports }: RunContext, journal: Journal): Promise<void> {
  const { integration: branch, integrationTip: tip, tasks } = journal.state;
  const now = await ports.repository.readRef(`refs/heads/${branch}`);
  if (now === undefined || now === tip) return;
  const ours = new Set(Object.values(tasks).flatMap(({ attempts }) => attempts.map(({ commit }) => commit)));
  const brought = await ports.repository.mergedOnTop(tip, now);
  if (brought?.every((commit) => ours.has(commit)) !== true) return;
  await ports.repository.moveBranch({ branch, from: now, to: tip });
  const text = `${branch} had been moved to ${now.slice(0, 12)} just before the run was killed, and is back at ${tip.slice(0, 12)} until its gates have run again`;
  journal.record({ type: 'warning', text });
}

/** The refs of a run, and the commits that they must name. Pure. */
export function knownRefs({
  feature,
  integration,
  integrationTip,
  tasks,
  levels,
}: RunState): ReadonlyMap<string, string> {
  const attempts = Object.entries(tasks).flatMap(([id, task]) =>
    task.attempts.flatMap(({ number, commit }) =>
      commit === null ? [] : [[attemptRef(feature, id, number), commit] as const],
    ),
  );
  const trial = Object.values(levels)
    .findLast((level) => level.trial !== null)
    ?.trial?.tips.at(-1);
  return new Map([
    [`refs/heads/${integration}`, integrationTip],
    ...(trial === undefined ? [] : [[trialRef(feature), trial] as const]),
    ...attempts,
  ]);
}
