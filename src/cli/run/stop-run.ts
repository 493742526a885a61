import { foreignLock, kill, line, printableJson, sleep, systemClock } from '../../lib/index.ts';
import { removeCheckouts } from '../../orchestrator/index.ts';
import type { StateStore } from '../../state/index.ts';
import { textOf } from '../command.ts';
import type { CliContext, CommandInput } from '../command.ts';
import { projectErrors } from '../../project/errors.ts';
import { STOP_GRACE_MS, openProject, sweepRun } from '../../project/index.ts';
import type { Project } from '../../project/index.ts';

/** What the orchestrator needs beyond the workers' own grace to write things down, also on a busy machine. */
const PATIENCE_MS = STOP_GRACE_MS + 120_000;

/** `stop`: asks the orchestrator to end, and says so only when it has; workers without one are ended as well. */
export async function stopRun(input: CommandInput, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await project.feature(textOf(input['feature']));
  const store = project.store(feature);
  const holder = await store.holder();
  const say = (kind: string, text: string): void =>
    context.out(line`${input['json'] === true ? printableJson({ type: kind, feature, text }) : text}\n`);
  if (holder === undefined) {
    const { count, what } = await sweepOrphans(project, store, context);
    if (count > 0) say('swept', `The orchestrator of "${feature}" was gone; ended ${count} ${what} that it had left.`);
    else say('nothing-to-stop', `No run of "${feature}" is going on.`);
    return 0;
  }
  // The same number is another process here.
  const foreign = foreignLock(store.paths.lock, holder);
  if (foreign !== undefined) throw foreign;
  kill(holder.pid, 'SIGTERM');
  if (!(await ended(store, holder.token, context.interrupted))) {
    throw projectErrors.STOP_SLOW({ feature, pid: holder.pid, waitedMs: PATIENCE_MS });
  }
  const state = await store.read();
  say(
    'stopped',
    `Run of "${feature}" is ${state?.status ?? 'gone'}${state?.cause == null ? '' : ` — ${state.cause}`}.`,
  );
  return 0;
}

async function ended(store: StateStore, token: string, interrupted: AbortSignal): Promise<boolean> {
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  while (systemClock.monotonic() < deadline && !interrupted.aborted) {
    if ((await store.holder())?.token !== token) return true;
    await sleep(50, interrupted);
  }
  return false;
}

/** With the lock: a run that is resumed meanwhile would lose its new workers. */
async function sweepOrphans(
  { repository }: Project,
  store: StateStore,
  { env }: CliContext,
): Promise<{ count: number; what: string }> {
  const state = await store.read();
  if (state === undefined) return { count: 0, what: '' };
  const release = await store.lock();
  try {
    const count = await sweepRun(state, env);
    await removeCheckouts({ repository, store });
    return { count, what: state.settings.mode === 'container' ? 'containers' : 'processes' };
  } finally {
    await release();
  }
}
