import { AppError, hasCode, systemClock } from '../lib/index.ts';
import { retryable, retryAtRest } from '../orchestrator/index.ts';
import type { RunState, StateStore } from '../state/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import { textOf } from './command.ts';
import type { CliContext, CommandInput } from './command.ts';
import { loadGraph } from './load-graph.ts';
import { openProject } from './project.ts';

/** `retry`: a live run is asked; a run at rest is changed, to be resumed. */
export async function retryFailed(input: CommandInput, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await project.feature(textOf(input['feature']));
  const store = project.store(feature);
  const state = await store.read();
  if (state === undefined) throw new AppError('NO_RUN', { feature });
  const asked = chosen(state, textOf(input['argument']));
  if (asked.length === 0) return say(context, input, { feature, tasks: [], text: 'No task has failed.' });
  const live = await retryInPlace(store, state, asked, async () => (await loadGraph(store.paths.usedGraph)).graph);
  const tasks = asked.join(', ');
  const text = live
    ? `Asked the running orchestrator to retry ${tasks}.`
    : `${tasks}: new tries. Go on with: mahabharatha kurukshetra --feature ${feature} --resume`;
  return say(context, input, { feature, tasks: asked, text });
}

function chosen(state: RunState, named: string | undefined): string[] {
  if (named === undefined) return Object.keys(state.tasks).filter((id) => state.tasks[id]?.status === 'failed');
  const task = state.tasks[named];
  if (task === undefined) throw new AppError('TASK_UNKNOWN', { task: named, known: Object.keys(state.tasks) });
  if (task.status !== 'failed') throw new AppError('TASK_NOT_RETRYABLE', { task: named, status: task.status });
  return [named];
}

/** True when a live orchestrator was asked instead. */
async function retryInPlace(
  store: StateStore,
  state: RunState,
  asked: readonly string[],
  graph: () => Promise<TaskGraph>,
): Promise<boolean> {
  let release;
  try {
    release = await store.lock();
  } catch (error) {
    if (!hasCode(error, 'ALREADY_RUNNING')) throw error;
    for (const task of asked) await store.ask({ kind: 'retry', task });
    return true;
  }
  try {
    const tasks = retryable(state, await graph(), asked);
    await retryAtRest({ clock: systemClock, store, emit: () => undefined }, state, tasks);
    return false;
  } finally {
    await release();
  }
}

function say(
  context: CliContext,
  input: CommandInput,
  facts: { feature: string; tasks: readonly string[]; text: string },
): number {
  context.out(input['json'] === true ? `${JSON.stringify({ type: 'retry', ...facts })}\n` : `${facts.text}\n`);
  return 0;
}
