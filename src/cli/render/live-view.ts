import { firstLine, inDuration, line } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { workedMs } from '../../orchestrator/index.ts';
import { present } from '../../project/index.ts';
import type { Usage } from '../../protocol/index.ts';
import type { RecordedEvent, RunState, TaskState, TaskStatus } from '../../state/index.ts';
import type { Size } from '../screen.ts';
import { rowOf } from './columns.ts';
import type { Part } from './columns.ts';
import type { Colors } from './colors.ts';
import { shortCost, sumOf } from './costs.ts';
import { describe } from './describe.ts';
import { busyWorkers, isIdle, linesOf, restingRow, widthsOf, workerRows } from './live-rows.ts';
import type { LiveFacts, Widths } from './live-rows.ts';

export interface ViewFacts extends LiveFacts {
  /** The last ones that are shown, oldest first. */
  readonly events: readonly RecordedEvent[];
  /** The last line: what Ctrl-C does. */
  readonly hint: Part;
}

/** As many events as a view may show. */
export const MOST_EVENTS = 10;
/** What every worker does anyway is left out. */
export const isShown = (event: RecordedEvent): boolean => describe(event).kind !== 'quiet';
/** Room is kept for so many. */
const LEAST_EVENTS = 3;
/** A worker's task, and the last lines of what is done now. */
const MOST_PER_WORKER = 4;
/** Head, blank line, blank line, one event, hint. */
const AROUND = 5;
/** With fewer rows the blank lines are left out. */
const COMFORTABLE_ROWS = 12;

/**
 * Pure: a run on a screen of any size. First its sum, then what has failed, then what is at work; the other tasks are one
 * line when there is no room for all of them.
 */
export function liveView(given: ViewFacts, { columns, rows }: Size, colors: Colors): readonly Printable[] {
  const { state, hint } = given;
  const facts = { ...given, work: present(state, given.work) };
  const tasks = Object.entries(state.tasks);
  const widths = widthsOf(facts, columns);
  const slots = slotsOf(state);
  const { perWorker, hasRoomForAll } = formOf(tasks.length, slots, rows);
  const rest = hasRoomForAll ? listed(facts, widths, colors) : [rowOf(folded(state, tasks, colors), columns)];
  const blanks = rows < COMFORTABLE_ROWS ? [] : [line``];
  const kept = rows < COMFORTABLE_ROWS ? 1 : LEAST_EVENTS;
  const room = Math.max(1, rows - rest.length - 2 - kept - 2 * blanks.length);
  const body = bodyOf(facts, widths, { room, perWorker, slots }, colors);
  const top = [head(facts, tasks, columns, colors), ...blanks, ...body, ...blanks, ...rest];
  const left = Math.max(0, rows - top.length - 1);
  const events = eventLines(facts.events, columns, Math.min(MOST_EVENTS, left), colors);
  // What happened last stands at the bottom: there it stays when rows above come and go.
  const between = Array.from({ length: left - events.length }, () => line``);
  const lines = [...top, ...between, ...events];
  return lines.length < rows ? [...lines, rowOf([hint], columns)] : lines.slice(0, rows);
}

/** So many workers are at work at once, at most. */
function slotsOf({ tasks, settings }: RunState): number {
  const perLevel = new Map<number, number>();
  for (const { level } of Object.values(tasks)) perLevel.set(level, (perLevel.get(level) ?? 0) + 1);
  return Math.min(settings.workers, Math.max(1, ...perLevel.values()));
}

/** This does not depend on what happens, so that a view does not change its form while it is looked at. */
function formOf(tasks: number, workers: number, rows: number): { perWorker: number; hasRoomForAll: boolean } {
  const least = 2 * workers + AROUND + LEAST_EVENTS <= rows ? 2 : 1;
  const hasRoomForAll = tasks + least * workers + AROUND <= rows;
  const room = rows - AROUND - LEAST_EVENTS - (hasRoomForAll ? tasks : 1);
  return { perWorker: least === 1 ? 1 : within(Math.floor(room / workers), 2, MOST_PER_WORKER), hasRoomForAll };
}

const within = (number: number, least: number, most: number): number => Math.max(least, Math.min(most, number));

type Tasks = readonly (readonly [string, TaskState])[];

function head({ state, work, now }: LiveFacts, tasks: Tasks, columns: number, colors: Colors): Printable {
  const { feature, status, levels, level, cost } = state;
  const numbers = Object.keys(levels).map(Number);
  const failed = count(tasks, 'failed');
  const price = shortCost(sumOf([cost, ...unsettled(state, work)]));
  const parts: Part[] = [
    [feature, colors.bold],
    [` ${status} ${inDuration(workedMs(state, now))}`],
    [` · ${count(tasks, 'complete')} of ${tasks.length} done`],
    [failed === 0 ? '' : ` · ${failed} failed`, colors.red],
    [price === '' ? '' : ` · ${price}`],
    [` · level ${numbers.indexOf(level) + 1} of ${numbers.length}`],
  ];
  return rowOf(parts, columns);
}

/** What the work under way has used so far; it is in the state as soon as its agent has ended. */
function unsettled({ workers, tasks }: RunState, work: LiveFacts['work']): (Usage | null)[] {
  return [...work].flatMap(([number, { usage }]) => {
    const attempt = tasks[workers[number]?.task ?? '']?.attempts.at(-1);
    return attempt?.usage === null ? [usage] : [];
  });
}

interface Room {
  readonly room: number;
  readonly perWorker: number;
  readonly slots: number;
}

/**
 * Failed tasks, and below them the workers. Where they do not fit, failed tasks get a third of the room at least; each has
 * its second line before a worker has a third one. How many workers are busy at the moment changes none of that.
 */
function bodyOf(facts: ViewFacts, widths: Widths, { room, perWorker, slots }: Room, colors: Colors): Printable[] {
  const failed = Object.entries(facts.state.tasks).filter(([, { status }]) => status === 'failed');
  const least = Math.min(failed.length, Math.floor(room / 3));
  const two = Math.min(2, perWorker);
  const forEach = Math.floor((room - failed.length * two) / slots);
  const perRow = slots * two <= room - least ? within(forEach, two, perWorker) : 1;
  const all = workerRows(facts);
  const workers = all.length * perRow <= room - least ? all : all.filter((row) => !isIdle(row));
  const forFailed = Math.max(least, room - slots * perRow);
  const perFailed = failed.length * two <= forFailed ? two : 1;
  const top = capped(
    failed.flatMap(([id, task]) => linesOf(restingRow(id, task), widths, perFailed, colors)),
    forFailed,
    (more) => rowOf([[`  and ${more} more that have failed`, colors.red]], widths.columns),
  );
  const below = capped(
    workers.flatMap((row) => linesOf(row, widths, perRow, colors)),
    room - top.length,
    (more) => rowOf([[`  and ${more} more at work`, colors.bold]], widths.columns),
  );
  const free = Math.min(slots * perRow, room - top.length) - below.length;
  return [...top, ...below, ...Array.from({ length: Math.max(0, free) }, () => line``)];
}

/** At most so many of them; the last one then says how many are left out. */
function capped(lines: readonly Printable[], most: number, inWords: (more: number) => Printable): Printable[] {
  if (lines.length <= most) return [...lines];
  const kept = Math.max(0, most - 1);
  return [...lines.slice(0, kept), inWords(lines.length - kept)].slice(0, most);
}

/** Tasks on which a worker works now. */
const atWork = (state: RunState): ReadonlySet<string | null> =>
  new Set([...busyWorkers(state).values()].map((number) => state.workers[number]?.task ?? null));

/** All other tasks, in the order of the graph. */
function listed({ state }: LiveFacts, widths: Widths, colors: Colors): Printable[] {
  const busy = atWork(state);
  return Object.entries(state.tasks)
    .filter(([id, { status }]) => status !== 'failed' && !busy.has(id))
    .flatMap(([id, task]) => linesOf(restingRow(id, task), widths, 1, colors));
}

/** All other tasks in one line. */
function folded(state: RunState, tasks: Tasks, { green, red, dim }: Colors): Part[] {
  const busy = atWork(state);
  const unverified = tasks.filter(([id, { status }]) => status === 'verifying' && !busy.has(id)).length;
  const again = tasks.filter(([, { status, attempts }]) => status === 'pending' && attempts.length > 0).length;
  const waiting = `${count(tasks, 'pending')} waiting${again === 0 ? '' : `, ${again} of them to be tried again`}`;
  const blocked = count(tasks, 'blocked');
  return [
    ['  '],
    [`${count(tasks, 'complete')} done`, green],
    [unverified === 0 ? '' : ` · ${unverified} to be verified`],
    [blocked === 0 ? '' : ` · ${blocked} blocked`, red],
    [` · ${waiting}`, dim],
  ];
}

const count = (tasks: Tasks, wanted: TaskStatus): number => tasks.filter(([, { status }]) => status === wanted).length;

/** What happened last. */
function eventLines(events: readonly RecordedEvent[], columns: number, most: number, colors: Colors): Printable[] {
  const paint = { good: colors.green, bad: colors.red, plain: undefined, quiet: colors.dim };
  const lines = events.map((event) => {
    const { kind, text } = describe(event);
    const time = event.at.slice(11, 19);
    return rowOf([['  '], [`${time} `, colors.dim], [firstLine(text.toString()), paint[kind]]], columns);
  });
  return most <= 0 ? [] : lines.slice(-most);
}
