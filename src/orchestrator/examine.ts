import { gitErrors } from '../git/errors.ts';
import type { Repository } from '../git/index.ts';
import { hasCode, libErrors, reasonOf } from '../lib/index.ts';
import { attemptRef, branchNames, commitMessage } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { taskOf } from '../tasks/index.ts';
import { checkoutSize } from './checkout-size.ts';
import { faultOfBundle, faultOfCommit } from './decide-examination.ts';
import { numberOfAttempt, taskOfAttempt } from './plan.ts';
import type { ActionOf, ObservedTaskResult } from './plan.ts';
import type { RunContext } from './ports.ts';

interface Examination {
  readonly attempt: string;
  readonly commit: string | null;
  readonly end: Promise<ObservedTaskResult>;
  isOver: boolean;
}

type Facts = Awaited<ReturnType<Repository['factsOf']>>;

export type Examiner = ReturnType<typeof createExaminer>;

/** Adds to reported results what the repository says of their commits. `onNews` is called at the end of each examination. */
export function createExaminer(context: RunContext, onNews: () => void) {
  const examinations = new Map<number, Examination>();
  return {
    /** A worker can make a bundle that takes minutes: it is examined beside the loop, and its result seen at a later look. */
    begin: (state: RunState, action: ActionOf<'take-result'>): void => {
      const { attempt, commit } = action.result;
      const begun: Examination = { attempt, commit, end: examine(context, state, action), isOver: false };
      examinations.set(action.worker, begun);
      const over = (): void => {
        begun.isOver = true;
        onNews();
      };
      begun.end.then(over, over);
    },
    /** Undefined when the examination of this attempt has not begun; rejects when the examination failed. */
    resultOf: async (
      worker: number,
      attempt: string,
    ): Promise<ObservedTaskResult | 'under examination' | undefined> => {
      const known = examinations.get(worker);
      if (known?.attempt !== attempt) return undefined;
      // Without a commit, and with one that is in our repository already, the result comes at once.
      const comesAtOnce = context.ports.launcher.capabilities.sharesObjects || known.commit === null;
      return known.isOver || comesAtOnce ? known.end : 'under examination';
    },
    /** Resolves when nothing is being examined any more. */
    rest: async (): Promise<void> => {
      await Promise.allSettled([...examinations.values()].map(({ end }) => end));
    },
  };
}

/** What a worker reports is a claim: the facts of its commit come from the repository. */
async function examine(
  context: RunContext,
  state: Pick<RunState, 'base' | 'runId'>,
  action: ActionOf<'take-result'>,
): Promise<ObservedTaskResult> {
  const { result, base } = action;
  const nothing = { ...result, fault: null, isGone: false, changed: [], embedded: [], checkout: null };
  if (result.commit === null) return nothing;
  const { launcher, repository } = context.ports;
  const { sharesObjects } = launcher.capabilities;
  const facts = sharesObjects
    ? await repository.commitFacts(result.commit)
    : await fetchBundle(context, action.worker, result.commit);
  if (typeof facts === 'string') return { ...nothing, fault: facts };
  const fault = faultOfCommit(base, facts);
  const branch = branchNames(context.graph.feature).worker(action.worker);
  if (facts === undefined && sharesObjects && (await repository.wasTip(branch, result.commit)))
    return { ...nothing, isGone: true };
  if (facts === undefined || fault !== null) return { ...nothing, fault };
  const commit = await remake(context, state, action, result.commit);
  if (commit === undefined) return { ...nothing, isGone: true };
  repository.checkoutGrowth.know(base, commit, facts.growth);
  const checkout = await checkoutSize(context, state.base, base, facts.growth);
  return { ...nothing, commit, changed: facts.changed, embedded: facts.embedded, checkout };
}

/** Makes the commit again in our own name: only its files are the worker's. Undefined when they are gone. */
async function remake(
  { ports, graph }: RunContext,
  { runId }: Pick<RunState, 'runId'>,
  { worker, base, result: { attempt } }: ActionOf<'take-result'>,
  commit: string,
): Promise<string | undefined> {
  const id = taskOfAttempt(attempt);
  const message = commitMessage({ id, title: taskOf(graph, id)?.title ?? '' }, attempt, {
    feature: graph.feature,
    runId,
  });
  // A worker that shares our repository moves its branch by itself.
  const branch = ports.launcher.capabilities.sharesObjects ? null : branchNames(graph.feature).worker(worker);
  const ref = attemptRef(graph.feature, id, numberOfAttempt(attempt));
  return ports.repository.remake({ commit, base, message, at: ports.clock.now(), ref, branch });
}

/** The facts of the worker's commit, out of its bundle; of a bad bundle, its fault. Any other error ends the run. */
async function fetchBundle(
  { ports, options, graph }: RunContext,
  worker: number,
  commit: string,
): Promise<Facts | string> {
  const { mail, repository } = ports;
  const branch = branchNames(graph.feature).worker(worker);
  try {
    const fetched = await mail.withBundle(worker, options.bundleBytes, (file) =>
      repository.fetchBundle({ file, branch }),
    );
    return fetched?.commit === commit ? await repository.factsOf(fetched) : faultOfBundle(fetched?.commit);
  } catch (error) {
    if (!hasCode(error, gitErrors.BUNDLE_REFUSED) && !hasCode(error, libErrors.FILE_UNREADABLE)) throw error;
    return `could not be fetched from its bundle: ${reasonOf(error)}`;
  }
}
