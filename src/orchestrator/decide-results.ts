import { inSeconds } from '../lib/text/amounts.ts';
import { firstLine, listed } from '../lib/text/words.ts';
import { IF_SATISFIED, nothingChanged } from '../protocol/index.ts';
import type { TaskResult } from '../protocol/index.ts';
import type { AttemptCharge, AttemptOutcome, AttemptState, TaskState } from '../state/index.ts';
import { backoffMs } from './backoff.ts';
import { endedForCost } from './decide-cost.ts';
import { tooLarge } from './decide-checkout.ts';
import { chargeOfEnd, goneInWords, lost, notBegun, wasOrchestratorAway } from './decide-losses.ts';
import { checkOwnership, shownPaths } from './decide-ownership.ts';
import { settleVerification } from './decide-verification.ts';
import { ownedFiles, sharesFiles, taskOf } from '../tasks/index.ts';
import type { Task } from '../tasks/index.ts';
import { attemptFailed, attemptId, finishWith, hasWork, record } from './plan.ts';
import type { Action, FinishAction, ObservedTaskResult, Snapshot } from './plan.ts';
import { survey } from './survey.ts';

/** After this number of rate limits in a row the next one counts as a failure. */
const BACKOFFS_IN_A_ROW = 20;
/** For a task that is no longer in the graph. */
const OWNS_NOTHING = { files: { create: [], modify: [], delete: [], read: [] }, satisfied: false };

/** What follows for each attempt that is under way. */
export function settleTasks(snapshot: Snapshot): Action[] {
  return survey(snapshot).underWay.flatMap(({ id, task }) => {
    const attempt = task.attempts.at(-1);
    return attempt === undefined ? [] : settle(snapshot, { id, task, attempt });
  });
}

interface UnderWay {
  readonly id: string;
  readonly task: TaskState;
  readonly attempt: AttemptState;
}

function settle(snapshot: Snapshot, work: UnderWay): Action[] {
  const { id, task, attempt } = work;
  if (hasWork(attempt)) return settleVerification(snapshot, work);
  const view = snapshot.workers.get(attempt.worker);
  const name = attemptId(id, attempt.number);
  if (view?.result?.kind === 'task' && view.result.attempt === name) return judge(snapshot, work, view.result);
  if (view === undefined || !view.alive) return [view?.setupFailure == null ? lost(snapshot, work) : notBegun(work)];
  const verifying = view.phase === 'verifying' && view.attempt === name && task.status === 'running';
  return verifying ? [record({ type: 'attempt-verifying', task: id, attempt: attempt.number })] : [];
}

function judge(snapshot: Snapshot, work: UnderWay, result: ObservedTaskResult): Action[] {
  switch (result.outcome) {
    case 'verified':
      return refuseCommit(snapshot, work, result) ?? accept(snapshot, work, result);
    case 'rate-limited':
      return rateLimited(snapshot, work, result);
    case 'usage-limit':
      return [failed(work, result, 'nothing'), pause(result)];
    case 'credentials':
      return [failed(work, result, 'nothing'), stopForCredentials(result)];
    case 'orphaned':
      return [failed(work, result, wasOrchestratorAway(snapshot, work.attempt) ? 'nothing' : chargeOfEnd(snapshot))];
    case 'interrupted':
      return [interrupted(snapshot, work, result)];
    case 'agent-failed':
    case 'timed-out':
    case 'idle':
    case 'verification-failed':
      return [failed(work, result, 'failure')];
    case 'no-change':
      return [failed(work, { ...result, detail: result.detail + doneBefore(snapshot, work.id) }, 'failure')];
    case 'worker-error':
      return [failed(work, result, 'failure'), ...renewed(snapshot, work, result.detail)];
  }
}

/** Unless it was ended because of its cost, or the run is to end, nothing has asked it to stop: the task has cost one more worker. */
function interrupted(snapshot: Snapshot, work: UnderWay, result: ObservedTaskResult): Action {
  const { charge, ...end } = endedForCost(snapshot, work) ?? { charge: chargeOfEnd(snapshot) };
  return failed(work, { ...result, ...end }, charge);
}

/** A task may have broken its container: the worker is replaced, so that the next task does not fail because of that. */
function renewed({ state, policy }: Snapshot, { attempt }: UnderWay, detail: string): Action[] {
  if (state.settings.mode !== 'container' || policy.singleUse) return [];
  const cause = `it could not work any more, or was not to be believed: ${firstLine(detail)}`;
  return [{ kind: 'kill-worker', worker: attempt.worker, cause }];
}

/** Undefined when the commit is what it claims to be, and small enough to be checked out. */
function refuseCommit(snapshot: Snapshot, work: UnderWay, result: ObservedTaskResult): Action[] | undefined {
  // A `git prune` beside the run has taken what the worker had just made: that is no fault of its task.
  if (result.commit !== null && result.isGone) {
    const lost = { ...result, outcome: 'lost' as const, detail: goneInWords(result.commit) };
    return [failed(work, lost, chargeOfEnd(snapshot))];
  }
  if (result.commit !== null && result.fault !== null) {
    const detail = `the reported commit ${result.commit.slice(0, 12)} ${result.fault}`;
    const refused = { ...result, outcome: 'worker-error' as const, detail, feedback: detail, commit: null };
    return [failed(work, refused, 'failure'), ...renewed(snapshot, work, detail)];
  }
  const detail = result.checkout === null ? undefined : tooLarge(result.checkout);
  if (detail === undefined) return undefined;
  return [failed(work, { ...result, outcome: 'too-large', detail, feedback: detail }, 'failure')];
}

/** The worker has verified it; the commit must also change what the task owns, and nothing else. */
function accept(snapshot: Snapshot, work: UnderWay, result: ObservedTaskResult): Action[] {
  const { id, attempt } = work;
  const task = taskOf(snapshot.graph, id);
  const nothing = noWork(snapshot, work, result);
  if (nothing !== undefined) return [failed(work, { ...result, ...nothing, outcome: 'no-change' }, 'failure')];
  const done = { commit: result.commit ?? attempt.base, detail: result.detail, usage: result.usage };
  const own = { task: id, attempt: attempt.number };
  const accepted =
    snapshot.policy.verifyAfresh && task?.verification != null
      ? record({ type: 'attempt-verifying', ...own, work: done })
      : record({ type: 'attempt-accepted', ...own, worker: attempt.worker, ...done });
  const { ownership } = snapshot.state.settings;
  const verdict = checkOwnership(task ?? OWNS_NOTHING, result.changed, ownership);
  if (verdict.kind === 'none') return [accepted];
  const { detail, feedback } = verdict;
  if (verdict.kind === 'warned') return [accepted, record({ type: 'warning', text: `${id} ${detail}` })];
  return [failed(work, { ...result, outcome: 'not-owned', detail, feedback }, 'failure')];
}

/** Why the commit does not have the task's work; undefined when it does. */
function noWork(
  snapshot: Snapshot,
  { id }: UnderWay,
  { changed, embedded }: ObservedTaskResult,
): { detail: string; feedback: string } | undefined {
  const { files, satisfied } = taskOf(snapshot.graph, id) ?? OWNS_NOTHING;
  const declared = ownedFiles(files);
  if (changed.length === 0 && declared.length > 0 && !satisfied) {
    const what = nothingChanged(declared);
    return { detail: `${what}; ${IF_SATISFIED}${doneBefore(snapshot, id)}`, feedback: what };
  }
  // Git records a nested repository as a commit id, without its files. With .gitmodules it is a submodule, and wanted.
  if (embedded.length === 0 || changed.includes('.gitmodules')) return undefined;
  const detail = `made a git repository of its own in ${shownPaths(embedded)}: the files in there would be lost`;
  const advice = 'Remove the .git folder in there, so that the files themselves belong to this repository.';
  return { detail, feedback: `The task ${detail}.\n${advice}` };
}

/** A merged task with the same files may have done the work of this one. */
function doneBefore({ state, graph }: Snapshot, id: string): string {
  const task = taskOf(graph, id);
  const isBefore = (other: Task): boolean => other.id !== id && state.tasks[other.id]?.merged === true;
  const before = graph.tasks.filter((other) => task !== undefined && isBefore(other) && sharesFiles(task, other));
  const ids = before.map((other) => other.id);
  return ids.length === 0 ? '' : `; merged before it, with the same files: ${listed(ids, 5)}`;
}

function rateLimited(snapshot: Snapshot, work: UnderWay, result: ObservedTaskResult): Action[] {
  const { backoffs } = work.task;
  if (backoffs >= BACKOFFS_IN_A_ROW) return [failed(work, result, 'failure')];
  const waitMs = backoffMs(snapshot.policy, backoffs);
  const detail = `${result.detail}; waiting ${inSeconds(waitMs)}`;
  const notBefore = new Date(snapshot.now + waitMs).toISOString();
  return [failed(work, { ...result, detail, notBefore }, 'backoff')];
}

type FailedResult = Omit<ObservedTaskResult, 'outcome'> & {
  readonly outcome: AttemptOutcome;
  readonly notBefore?: string;
};

function failed({ id, attempt }: UnderWay, result: FailedResult, charge: AttemptCharge): Action {
  return attemptFailed(id, attempt, {
    ...result,
    charge,
    // The next attempt learns nothing from one that is not charged.
    feedback: charge === 'failure' ? result.feedback : null,
    // A commit that cannot be used may be missing in the repository: no ref can keep it.
    commit: result.fault === null && !result.isGone ? result.commit : null,
  });
}

function pause(result: TaskResult): FinishAction {
  const until = result.resetAt === null ? '' : ` It ends at ${result.resetAt}.`;
  const cause = `usage limit of the account: ${result.detail}.${until} No attempt was charged`;
  return finishWith('paused', 3, cause, result.resetAt);
}

function stopForCredentials(result: TaskResult): FinishAction {
  return finishWith('stopped', 4, `the agent's credentials were refused: ${result.detail}`);
}
