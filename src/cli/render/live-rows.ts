import { firstLine, inClock, printableOutput } from '../../lib/index.ts';
import { isGateRun, isLive, SETTING_UP } from '../../orchestrator/index.ts';
import type { WorkByWorker } from '../../project/index.ts';
import { lastOfPlaces } from '../../protocol/index.ts';
import type { RunState, TaskState, TaskStatus, WorkerState } from '../../state/index.ts';
import { columnsOf, padTo, rowOf } from './columns.ts';
import type { Part } from './columns.ts';
import type { Colors, Paint } from './colors.ts';
import type { Printable } from '../../lib/index.ts';
import { shortCost, sumOf } from './costs.ts';
import { SIGN } from './status.ts';

type Mood = 'busy' | 'waits' | 'bad' | 'good' | 'quiet';

/** A task, or a worker without one, as a row of the live view. */
export interface Row {
  readonly mood: Mood;
  readonly sign: string;
  readonly name: string;
  readonly phase: string;
  /** How long it has taken until now; undefined before it begins. */
  readonly ms: number | undefined;
  readonly cost: string;
  readonly text: string;
  /** What is done now, the last line last: lines of their own where there is room, else one beside the text or in its place. */
  readonly says: readonly string[];
}

export interface LiveFacts {
  readonly state: RunState;
  readonly work: WorkByWorker;
  /** Wall clock. */
  readonly now: number;
}

const EMPTY = { ms: undefined, cost: '', text: '', says: [] } as const;

/** One row for each place up to the last at which a worker is at work, so that a row stays where it is when others change. */
export function workerRows(facts: LiveFacts): readonly Row[] {
  const shown = busyWorkers(facts.state);
  const count = Math.max(-1, ...shown.keys()) + 1;
  return Array.from({ length: count }, (_, place) => workerRow(facts, shown.get(place) ?? place));
}

/** The numbers of the workers that are at work, by their places. */
export function busyWorkers({ workers, settings }: RunState): ReadonlyMap<number, number> {
  const last = lastOfPlaces(settings, workers);
  return new Map([...last].filter(([, number]) => isBusy(workers[number])));
}

export const isIdle = ({ mood }: Row): boolean => mood === 'quiet';

function isBusy(worker: WorkerState | undefined): boolean {
  if (worker === undefined || !isLive(worker)) return false;
  return worker.task !== null || worker.status === 'STARTING' || worker.cause === SETTING_UP;
}

function workerRow(facts: LiveFacts, number: number): Row {
  const worker = facts.state.workers[number];
  const name = `worker ${number}`;
  if (worker === undefined || !isBusy(worker)) return { ...EMPTY, mood: 'quiet', sign: '·', name, phase: 'idle' };
  const says = worker.trouble === null ? (facts.work.get(number)?.says ?? []) : [worker.trouble];
  if (isGateRun(worker.task)) return { ...gateRow(facts, worker.task), says };
  const task = facts.state.tasks[worker.task ?? ''];
  if (worker.task !== null && task !== undefined) return { ...taskAtWork(facts, number, worker, task), says };
  const ms = facts.now - Date.parse(worker.startedAt);
  return { ...EMPTY, mood: 'busy', sign: SIGN.running, name, phase: phaseOf(worker), ms, says };
}

function phaseOf(worker: WorkerState, task?: TaskState): string {
  if (worker.cause === SETTING_UP) return 'set-up';
  if (worker.status === 'STARTING') return 'starting';
  if (worker.trouble !== null) return 'waits';
  return task?.status === 'verifying' ? 'verifying' : 'working';
}

function gateRow({ state, now }: LiveFacts, run: string | null): Row {
  const [level = '', found] = Object.entries(state.levels).find(([, { gateRun }]) => gateRun?.attempt === run) ?? [];
  const began = found?.gateRun?.startedAt ?? null;
  const ms = began === null ? undefined : now - Date.parse(began);
  const text = state.settings.gates.map(({ name }) => name).join(', ');
  return { ...EMPTY, mood: 'busy', sign: SIGN.verifying, name: `level ${level}`, phase: 'gates', ms, text };
}

function taskAtWork({ work, now }: LiveFacts, number: number, worker: WorkerState, task: TaskState): Row {
  const attempt = task.attempts.at(-1);
  // The usage of an open attempt is in the state when its agent has ended.
  const running = attempt?.usage ?? work.get(number)?.usage;
  const usages = [...task.attempts.slice(0, -1).map(({ usage }) => usage), running];
  return {
    mood: worker.trouble === null ? 'busy' : 'waits',
    sign: SIGN[task.status],
    name: worker.task ?? '',
    phase: phaseOf(worker, task),
    ms: attempt === undefined ? undefined : now - Date.parse(attempt.startedAt),
    cost: shortCost(sumOf(usages)),
    text: `${(attempt?.number ?? 1) > 1 ? `attempt ${attempt?.number} · ` : ''}${task.title}`,
    says: [],
  };
}

const MOOD: Readonly<Record<TaskStatus, Mood>> = {
  pending: 'quiet',
  running: 'busy',
  verifying: 'busy',
  complete: 'good',
  failed: 'bad',
  blocked: 'bad',
};

const PHASE: Readonly<Partial<Record<TaskStatus, string>>> = {
  pending: 'waiting',
  verifying: 'to verify',
  complete: 'done',
};

/** A task on which no worker works: how it ended, or that it waits. */
export function restingRow(id: string, task: TaskState): Row {
  const { status, attempts, title } = task;
  const tries = status === 'complete' ? (attempts.at(-1)?.number ?? 1) : 1;
  return {
    mood: MOOD[status],
    sign: SIGN[status],
    name: id,
    phase: PHASE[status] ?? status,
    ms: timeOf(task),
    cost: shortCost(sumOf(attempts.map(({ usage }) => usage))),
    text: `${tries > 1 ? `${tries} attempts · ` : ''}${title}`,
    says: status === 'complete' || task.cause === null ? [] : [firstLine(task.cause)],
  };
}

/** From its first beginning to its last end. */
function timeOf({ attempts }: TaskState): number | undefined {
  const [first, last] = [attempts[0]?.startedAt, attempts.at(-1)?.endedAt];
  return first === undefined || last == null ? undefined : Date.parse(last) - Date.parse(first);
}

/** The widths of the columns before the text: they do not depend on what happens, so that rows stay as they are. */
export interface Widths {
  readonly columns: number;
  readonly name: number;
  /** 0 where nothing has a cost. */
  readonly cost: number;
}

const PHASE_WIDTH = 9;
const CLOCK_WIDTH = 7;
const COST_WIDTH = 8;

export function widthsOf({ state, work }: Pick<LiveFacts, 'state' | 'work'>, columns: number): Widths {
  const name = nameWidth(Object.keys(state.tasks), columns);
  const attempts = Object.values(state.tasks).flatMap((task) => task.attempts);
  const usages = [...attempts, ...work.values()].map(({ usage }) => usage);
  return { columns, name, cost: usages.some((usage) => usage !== null) ? COST_WIDTH : 0 };
}

/** Where a text and a line beside it have so many columns together, both are shown. */
const WIDE_ROOM = 90;
const GAP = '  ';

/** The row as so many lines: one, or several with what is done now below. */
export function linesOf(row: Row, { columns, name, cost }: Widths, height: number, colors: Colors): Printable[] {
  const paint = paintOf(row.mood, colors);
  const clock = row.ms === undefined ? '' : inClock(row.ms);
  const facts = ` ${clock.padStart(CLOCK_WIDTH)}  ${cost === 0 ? '' : `${row.cost.padStart(cost)}  `}`;
  const who = `${row.sign} ${padTo(row.name, name)}  ${padTo(row.phase, PHASE_WIDTH)}`;
  const paintSays = row.mood === 'waits' || row.mood === 'bad' ? paint : colors.dim;
  const text: Part = [row.text, row.mood === 'quiet' ? colors.dim : undefined];
  const says = row.says.map((one): Part => [printableOutput(one), paintSays]);
  const beside = height > 1 ? [text] : inOneLine(text, says.at(-1), columns - columnsOf(who + facts));
  const first = rowOf([[who, paint], [facts, colors.dim], ...beside], columns);
  const below = says.slice(-(height - 1)).map((one) => rowOf([['    '], one], columns));
  return Array.from({ length: height }, (_, index) => (index === 0 ? first : (below[index - 1] ?? rowOf([], columns))));
}

function inOneLine(text: Part, says: Part | undefined, room: number): Part[] {
  if (says === undefined) return [text];
  if (room < WIDE_ROOM) return [says];
  const [words, paint] = text;
  return [[padTo(words.toString(), Math.floor(room / 2) - GAP.length), paint], [GAP], says];
}

function paintOf(mood: Mood, { bold, yellow, red, green, dim }: Colors): Paint {
  return { busy: bold, waits: yellow, bad: red, good: green, quiet: dim }[mood];
}

/** As wide as the longest name, within limits. */
function nameWidth(names: readonly string[], columns: number): number {
  return Math.min(columns < 120 ? 24 : 40, Math.max(...names.map(columnsOf), 'worker 63'.length));
}
