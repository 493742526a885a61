import path from 'node:path';
import { refusalText } from '../../egress/target/index.ts';
import { libErrors, line as words, printableJson, printableOutput, sleep } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { followLines, lastLines } from '../../logs/index.ts';
import { EGRESS_LOG, readLogLine, readRefusal } from '../../protocol/index.ts';
import type { LogLine } from '../../protocol/index.ts';
import type { RecordedEvent, RunState, StateStore } from '../../state/index.ts';
import { projectErrors } from '../../project/errors.ts';
import { noRun, openProject } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { logs } from '../commands/logs.ts';
import { colorsFor } from '../render/colors.ts';
import type { Colors } from '../render/colors.ts';
import { describe } from '../render/describe.ts';

/** The lines of one log file, as text to show and as text for programs. */
interface Entry {
  readonly at: string;
  readonly task: string | undefined;
  /** Undefined for what is about the whole run. */
  readonly worker: number | undefined;
  readonly json: Printable;
  readonly text: Printable;
}

interface Source {
  readonly file: string;
  parse(line: string): Entry;
}

export async function showLogs(input: InputOf<typeof logs>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await project.feature(input.feature);
  const store = project.store(feature);
  const state = await store.read();
  if (state === undefined) throw await noRun(project, feature);
  const wanted = readWishes(input, state);
  const colors = colorsFor(context.color);
  const sources = wanted.workers.map((worker) => workerSource(store, worker, colors, context.color));
  sources.push(egressSource(store, colors));
  if (wanted.all) sources.push(eventSource(store, colors));
  const matches = ({ task, worker }: Entry): boolean =>
    (wanted.task === undefined || task === wanted.task) &&
    (wanted.all || (worker !== undefined && wanted.workers.includes(worker)));
  const print = (entry: Entry): void => context.out(words`${input.json ? entry.json : entry.text}\n`);

  const ends = await Promise.all(
    sources.map(async (source) => {
      const end = await lastLines(source.file, wanted.tail, (line) => matches(source.parse(line)));
      return { source, ...end };
    }),
  );
  const entries = ends.flatMap(({ source, lines }) => lines.map(source.parse)).toSorted(byTime);
  for (const entry of Number.isFinite(wanted.tail) ? entries.slice(-wanted.tail) : entries) print(entry);
  if (entries.length === 0 && !input.follow && !input.json) context.err(words`There are no lines yet.\n`);
  if (input.follow) {
    const over = untilOver(store, context.interrupted);
    await Promise.all(
      ends.map(({ source, place }) =>
        followLines(
          source.file,
          place,
          (line) => {
            const entry = source.parse(line);
            if (matches(entry)) print(entry);
          },
          over,
        ),
      ),
    );
  }
  return 0;
}

interface Wishes {
  readonly workers: readonly number[];
  readonly all: boolean;
  readonly tail: number;
  readonly task: string | undefined;
}

function readWishes(input: InputOf<typeof logs>, state: RunState): Wishes {
  const named = input.argument;
  const tail = input.tail ?? '100';
  const task = input.task;
  const count = Math.max(state.settings.workers, ...Object.keys(state.workers).map((key) => Number(key) + 1));
  if (named !== undefined && !/^\d+$/.test(named)) {
    throw libErrors.USAGE({
      problem: `"${named}" is not a worker.`,
      hint: `Workers of this run: 0 to ${count - 1}.`,
    });
  }
  if (named !== undefined && Number(named) >= count) {
    throw libErrors.USAGE({
      problem: `There is no worker ${named}.`,
      hint: `Workers of this run: 0 to ${count - 1}.`,
    });
  }
  if (tail !== 'all' && !/^\d+$/.test(tail)) {
    throw libErrors.USAGE({
      problem: `--tail ${tail} is not a number of lines.`,
      hint: 'Use a whole number, or "all".',
    });
  }
  if (task !== undefined && !task.startsWith('gate:') && state.tasks[task] === undefined) {
    throw projectErrors.TASK_UNKNOWN({ task, known: Object.keys(state.tasks) });
  }
  return {
    workers: named === undefined ? Array.from({ length: count }, (_, worker) => worker) : [Number(named)],
    all: named === undefined,
    tail: tail === 'all' ? Number.POSITIVE_INFINITY : Number(tail),
    task,
  };
}

function workerSource(store: StateStore, worker: number, colors: Colors, color: boolean): Source {
  return {
    file: store.paths.worker(worker).log,
    parse: (json) => {
      const line = readLogLine(json);
      // What a worker prints before its log is up, or when it breaks, is no JSON.
      if (line === undefined) return unreadable(json, { worker });
      // Whose log it is we know better than what is in it.
      return entryOf({ ...line, worker }, printableOutput(line.text, color), colors);
    },
  };
}

/** What the egress proxy has refused to any worker, or could not reach for it. */
function egressSource(store: StateStore, colors: Colors): Source {
  return {
    file: path.join(store.paths.logs, EGRESS_LOG),
    parse: (json) => {
      const refusal = readRefusal(json);
      const line = refusal === undefined ? readLogLine(json) : { ...refusal, text: refusalText(refusal) };
      if (line === undefined) return unreadable(json, { source: 'egress' });
      // It stands out, since it may be the reason for all that follows; a task has chosen the names in it.
      return entryOf(line, colors.yellow(printableOutput(line.text)), colors);
    },
  };
}

function entryOf(line: LogLine, shown: Printable, colors: Colors): Entry {
  const { at, worker, task, source } = line;
  const who = `${at.slice(11, 19)} ${worker}${task === undefined ? '' : ` ${task}`} ${source.padEnd(6)}`;
  return { at, task, worker, json: printableJson(line), text: words`${colors.dim(who)} ${shown}` };
}

function unreadable(text: string, from: { worker: number } | { source: string }): Entry {
  const worker = 'worker' in from ? from.worker : undefined;
  const who = 'worker' in from ? from.worker : from.source;
  const shown = words`         ${who}  ${printableOutput(text)}`;
  return { at: '', task: undefined, worker, json: printableJson({ ...from, text }), text: shown };
}

function eventSource(store: StateStore, colors: Colors): Source {
  return {
    file: store.paths.events,
    parse: (json) => {
      const value = parseJson(json);
      if (!isEvent(value)) return unreadable(json, { source: 'run' });
      const task = 'task' in value ? value.task : undefined;
      return {
        at: value.at,
        task,
        worker: undefined,
        json: printableJson(value),
        text: words`${colors.dim(`${value.at.slice(11, 19)} run`)} ${describe(value).text}`,
      };
    },
  };
}

/** Our own file, written by this or an earlier version of us. */
function isEvent(value: unknown): value is RecordedEvent {
  return (
    typeof value === 'object' && value !== null && 'type' in value && 'at' in value && typeof value.at === 'string'
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function byTime(one: Entry, other: Entry): number {
  return one.at < other.at ? -1 : one.at > other.at ? 1 : 0;
}

/** Fires when nobody drives the run any more and its last lines have had time to be written, or on Ctrl-C. */
function untilOver(store: StateStore, interrupted: AbortSignal): AbortSignal {
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    while (!interrupted.aborted && (await store.holder()) !== undefined) await sleep(500, interrupted);
    await sleep(400, interrupted);
    over.abort();
  };
  void watch();
  return over.signal;
}
