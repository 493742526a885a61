import { asksAgent } from '../protocol/index.ts';
import type { TaskAssignment, TaskBrief } from '../protocol/index.ts';
import { taskOf } from '../tasks/index.ts';
import type { Task } from '../tasks/index.ts';
import { eventOf } from './action-events.ts';
import { whyFresh } from './decide-assignment.ts';
import type { Journal } from './journal.ts';
import { attemptId, isLive } from './plan.ts';
import type { ActionOf } from './plan.ts';
import type { RunContext } from './ports.ts';
import type { WorkerRegister } from './worker-register.ts';

export async function assign(
  context: RunContext,
  journal: Journal,
  register: WorkerRegister,
  action: ActionOf<'assign'>,
): Promise<void> {
  const target = journal.state.workers[action.worker];
  if (target === undefined || !isLive(target)) return;
  journal.record(eventOf.assign(action));
  await journal.save();
  const assignment = taskAssignment(context, journal, action.task, action.fresh !== null);
  if (asksAgent(assignment)) register.giveCredentials(target.session, assignment.attempt);
  await context.ports.mail.deliver(action.worker, assignment);
}

/** A worker that is taken over may not have received its assignment; a second delivery does no harm. */
export async function assignAgain(context: RunContext, journal: Journal, worker: number): Promise<void> {
  const { tasks, workers } = journal.state;
  const task = workers[worker]?.task ?? null;
  const attempt = tasks[task ?? '']?.attempts.at(-1);
  if (task === null || attempt?.outcome !== null || attempt.worker !== worker) return;
  const { number } = attempt;
  const fresh = whyFresh({ state: journal.state, graph: context.graph }, { task, worker, number }) !== null;
  await context.ports.mail.deliver(worker, taskAssignment(context, journal, task, fresh));
}

function taskAssignment(
  { options, graph }: RunContext,
  { state }: Journal,
  id: string,
  fresh: boolean,
): TaskAssignment {
  const task = taskOf(graph, id);
  const known = state.tasks[id];
  const attempt = known?.attempts.at(-1);
  if (task === undefined || known === undefined || attempt === undefined)
    throw new Error(`no attempt of ${id} to assign`);
  return {
    version: 1,
    kind: 'task',
    attempt: attemptId(id, attempt.number),
    base: attempt.base,
    task: briefOf(task),
    feedback: known.feedback,
    agent: options.agent,
    limits: options.limits,
    fresh,
  };
}

function briefOf(task: Task): TaskBrief {
  return {
    id: task.id,
    title: task.title,
    description: task.description,
    create: [...task.files.create],
    modify: [...task.files.modify],
    read: [...task.files.read],
    acceptanceCriteria: [...task.acceptanceCriteria],
    context: task.context,
    verification: task.verification,
    run: task.run,
  };
}

export async function runGates(context: RunContext, journal: Journal, action: ActionOf<'run-gates'>): Promise<void> {
  const target = journal.state.workers[action.worker];
  if (target === undefined || !isLive(target)) return;
  const started = eventOf['run-gates'](action, journal.state);
  journal.record(started);
  await journal.save();
  await context.ports.mail.deliver(action.worker, {
    version: 1,
    kind: 'gate',
    attempt: started.attempt,
    base: action.commit,
    gates: journal.state.settings.gates,
  });
}
