import { gitErrors } from '../git/errors.ts';
import { hasCode, libErrors, reasonOf } from '../lib/index.ts';
import { branchNames, commitMessage } from '../protocol/index.ts';
import type { TaskResult } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { checkoutSize } from './checkout-size.ts';
import type { ActionOf, ObservedTaskResult } from './plan.ts';
import type { RunContext } from './ports.ts';

/** Results with what the repository says of them. */
export interface Examiner {
  /** A bundle may be made so that it takes minutes: it is examined beside the loop, and seen at a later look. */
  begin(state: RunState, action: ActionOf<'take-result'>): void;
  /** Undefined before the examination of this attempt has begun; throws what ended it. */
  resultOf(worker: number, attempt: string): Promise<ObservedTaskResult | 'under examination' | undefined>;
  /** Resolves when nothing is being examined any more. */
  rest(): Promise<void>;
}

interface Examination {
  readonly attempt: string;
  readonly commit: string | null;
  /** Never rejects: a failure is thrown at the next look. */
  readonly end: Promise<unknown>;
  /** Null until the end; then it gives the result or throws. */
  outcome: (() => ObservedTaskResult) | null;
}

/** What the run and the attempt have started from. */
interface Bases {
  readonly run: string;
  readonly attempt: string;
  readonly runId: string;
}

/** `onNews` is called at the end of each examination: a look that has been made would now show more. */
export function createExaminer(context: RunContext, onNews: () => void): Examiner {
  const examinations = new Map<number, Examination>();
  return {
    begin: (state, { worker, result, base }) => {
      const end = examine(context, worker, result, { run: state.base, attempt: base, runId: state.runId }).then(
        (observed) => (begun.outcome = () => observed),
        (error: unknown) => {
          begun.outcome = () => {
            throw error;
          };
        },
      );
      const { attempt, commit } = result;
      const begun: Examination = { attempt, commit, end, outcome: null };
      examinations.set(worker, begun);
      void end.then(onNews);
    },
    resultOf: async (worker, attempt) => {
      const known = examinations.get(worker);
      if (known?.attempt !== attempt) return undefined;
      // Of a commit that is in our repository already, or of none, the answer comes at once.
      if (context.ports.launcher.capabilities.sharesObjects || known.commit === null) await known.end;
      return known.outcome === null ? 'under examination' : known.outcome();
    },
    rest: async () => {
      await Promise.all([...examinations.values()].map(({ end }) => end));
    },
  };
}

/** What a worker reports is a claim: the facts of its commit come from the repository. */
async function examine(
  context: RunContext,
  worker: number,
  result: TaskResult,
  base: Bases,
): Promise<ObservedTaskResult> {
  const nothing = { ...result, misfit: null, changed: [], embedded: [], checkout: null };
  if (result.commit === null) return nothing;
  const { launcher, repository } = context.ports;
  const misfit = launcher.capabilities.sharesObjects ? null : await bringHome(context, worker, result.commit);
  if (misfit !== null) return { ...nothing, misfit };
  const facts = await repository.commitFacts(result.commit);
  if (facts?.parents.length !== 1 || facts.parents[0] !== base.attempt)
    return { ...nothing, misfit: `is not one commit on top of ${base.attempt.slice(0, 12)}` };
  const commit = await remake(context, worker, { ...result, commit: result.commit }, base);
  repository.checkoutGrowth.know(base.attempt, commit, facts.growth);
  const checkout = await checkoutSize(context, base.run, base.attempt, facts.growth);
  return { ...nothing, commit, changed: facts.changed, embedded: facts.embedded, checkout };
}

/** Makes the commit again in our own name: only its files are the worker's. */
async function remake(
  { ports, graph }: RunContext,
  worker: number,
  { commit, attempt }: { readonly commit: string; readonly attempt: string },
  base: Bases,
): Promise<string> {
  const id = attempt.replace(/\.\d+$/, '');
  const title = graph.tasks.find((task) => task.id === id)?.title ?? '';
  const message = commitMessage({ id, title }, attempt, base.runId);
  // A worker that shares our repository moves its branch by itself.
  const branch = ports.launcher.capabilities.sharesObjects ? null : branchNames(graph.feature).worker(worker);
  return ports.repository.remake({ commit, base: base.attempt, message, at: ports.clock.now(), branch });
}

/** Takes the worker's commit out of its bundle. A bad bundle is the worker's fault; any other error ends the run. */
async function bringHome(
  { ports, options, graph }: RunContext,
  worker: number,
  commit: string,
): Promise<string | null> {
  const branch = branchNames(graph.feature).worker(worker);
  try {
    const tip = await ports.mail.withBundle(worker, options.bundleBytes, async (file) =>
      ports.repository.bringHome({ file, branch }),
    );
    if (tip === undefined) return 'came without the bundle that it should be in';
    return tip === commit ? null : `is not what its bundle brought, which is ${tip.slice(0, 12)}`;
  } catch (error) {
    if (!hasCode(error, gitErrors.BUNDLE_REFUSED) && !hasCode(error, libErrors.FILE_UNREADABLE)) throw error;
    return `could not be fetched from its bundle: ${reasonOf(error)}`;
  }
}
