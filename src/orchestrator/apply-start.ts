import { randomId } from '../lib/index.ts';
import type { WorkerSpec } from '../launchers/index.ts';
import { branchNames } from '../protocol/index.ts';
import type { Boot } from '../protocol/index.ts';
import { eventOf } from './action-events.ts';
import type { Journal } from './journal.ts';
import type { ActionOf } from './plan.ts';
import type { RunContext } from './ports.ts';
import { addCheckout } from './worker-folders.ts';
import type { WorkerRegister } from './worker-register.ts';

/** How much sooner than its worker an agent is killed, so that the worker can still save and report. */
const AGENT_GRACE_SHARE = 0.5;

/**
 * The mail is opened at once, so that work can be assigned. The checkout may take long, and goes on beside the loop;
 * a start that fails is seen at the next look, as the end of any worker is.
 */
export async function startWorker(
  context: RunContext,
  journal: Journal,
  register: WorkerRegister,
  action: ActionOf<'start-worker'>,
): Promise<void> {
  const { ports, graph } = context;
  const { worker } = action;
  const session = randomId();
  const paths = ports.store.paths.worker(worker);
  const branch = branchNames(graph.feature).worker(worker);
  const { worktree } = paths;
  journal.record(eventOf['start-worker'](action, { session, mode: ports.launcher.name, branch, worktree }));
  await journal.save();
  const base = journal.state.integrationTip;
  await ports.mail.open(worker, bootOf(context, journal, { worker, session, branch, ...checkoutOf(context, base) }));
  void register
    .expect(session, async () => {
      const privateGit = await addCheckout(ports, paths, { branch, base });
      return ports.launcher.start(workerSpec(context, journal, { worker, session, privateGit }));
    })
    .then((handle) => {
      if (typeof handle === 'string') return;
      const { pid, containerId } = handle;
      journal.record({ type: 'worker-started', worker, session, pid, containerId, handle: { ...handle } });
    });
}

/** A worker that shares our objects gets a worktree of our repository; all others make their checkout themselves. */
function checkoutOf({ ports }: RunContext, base: string): Pick<Boot, 'checkedOut' | 'bundles'> {
  const shared = ports.launcher.capabilities.sharesObjects;
  return { checkedOut: shared ? base : null, bundles: !shared };
}

function workerSpec(
  { ports, options, graph }: RunContext,
  { state }: Journal,
  life: Pick<WorkerSpec, 'worker' | 'session' | 'privateGit'>,
): WorkerSpec {
  if (options.stop.aborted) throw new Error('the run is being stopped');
  const { worktree, inbox, outbox, log } = ports.store.paths.worker(life.worker);
  return {
    runId: state.runId,
    feature: graph.feature,
    ...life,
    worktree,
    inbox,
    outbox,
    shared: ports.store.paths.shared,
    log,
    env: options.env,
  };
}

function bootOf(
  { options, graph }: RunContext,
  journal: Journal,
  life: Pick<Boot, 'worker' | 'session' | 'branch' | 'checkedOut' | 'bundles'>,
): Boot {
  return {
    version: 1,
    runId: journal.state.runId,
    feature: graph.feature,
    ...life,
    leaseMs: options.leaseMs,
    setup: options.setup,
    stopGraceMs: Math.round(options.graceMs * AGENT_GRACE_SHARE),
  };
}
