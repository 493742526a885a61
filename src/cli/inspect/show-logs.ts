import { libErrors, line as words, sleep } from '../../lib/index.ts';
import { followLines, lastLines } from '../../logs/index.ts';
import { projectErrors } from '../../project/errors.ts';
import { openProject, readRun } from '../../project/index.ts';
import { numberCount, SNAPSHOT_MAKER } from '../../protocol/index.ts';
import type { RunState, StateStore } from '../../state/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { logs } from '../commands/logs.ts';
import { featureFor } from '../feature-for.ts';
import { egressSource, eventSource, hookSource, workerSource } from './log-sources.ts';
import type { Entry, Source } from './log-sources.ts';

/** `logs`: the last lines of workers, of the egress proxy and of the run, in the order of their times; exit as with `status`. */
export async function showLogs(input: InputOf<typeof logs>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'see', context);
  const store = project.store(feature);
  const { workers, all, tail, task } = readWishes(input, await readRun(project, feature));
  const { color } = context;
  const gateOutput = task !== undefined;
  const sources = [
    ...workers.map((worker) => workerSource(store, worker, color)),
    egressSource(store, color),
    ...(all ? sourcesOfRun(store, { color, gateOutput }) : []),
  ];
  const matches = (entry: Entry): boolean =>
    (task === undefined || entry.task === task) &&
    (all || (entry.worker !== undefined && workers.includes(entry.worker)));
  const print = (entry: Entry): void => context.out(words`${input.json ? entry.json : entry.text}\n`);
  const ends = await Promise.all(
    sources.map(async (source) => {
      const end = await lastLines(source.file, tail, (line) => matches(source.parse(line)));
      return { source, ...end };
    }),
  );
  const entries = ends.flatMap(({ source, lines }) => withTimes(lines.map(source.parse))).toSorted(byTime);
  for (const entry of Number.isFinite(tail) ? entries.slice(-tail) : entries) print(entry);
  if (entries.length === 0 && tail > 0 && !input.follow && !input.json) context.err(words`There are no lines yet.\n`);
  if (!input.follow) return 0;
  const over = untilOver(store, context.interrupted);
  const show = (entry: Entry): void => void (matches(entry) && print(entry));
  await Promise.all(
    ends.map(({ source, place }) => followLines(source.file, place, (line) => show(source.parse(line)), over)),
  );
  return context.interrupted.aborted ? Number(context.interrupted.reason) : 0;
}

/** Of no worker. */
function sourcesOfRun(store: StateStore, shown: { readonly color: boolean; readonly gateOutput: boolean }): Source[] {
  const { color } = shown;
  return [workerSource(store, SNAPSHOT_MAKER, color), eventSource(store, shown), hookSource(store, color)];
}

interface Wishes {
  readonly workers: readonly number[];
  /** No worker was named: the run itself is shown too. */
  readonly all: boolean;
  readonly tail: number;
  readonly task: string | undefined;
}

function readWishes({ argument, tail = '100', task }: InputOf<typeof logs>, state: RunState): Wishes {
  const count = Math.max(numberCount(state.settings), ...Object.keys(state.workers).map((key) => Number(key) + 1));
  const hint = `Workers of this run: 0 to ${count - 1}.`;
  if (argument !== undefined && !/^\d+$/.test(argument))
    throw libErrors.USAGE({
      problem: `"${argument}" is not a worker.`,
      hint: `${hint} If it is a feature: mahabharatha logs --feature ${argument}`,
    });
  if (argument !== undefined && Number(argument) >= count)
    throw libErrors.USAGE({ problem: `There is no worker ${argument}.`, hint });
  if (tail !== 'all' && !/^\d+$/.test(tail))
    throw libErrors.USAGE({
      problem: `--tail ${tail} is not a number of lines.`,
      hint: 'Use a whole number, or "all".',
    });
  if (task !== undefined && !task.startsWith('gate:') && !Object.hasOwn(state.tasks, task))
    throw projectErrors.TASK_UNKNOWN({ task, known: Object.keys(state.tasks) });
  return {
    workers: argument === undefined ? Array.from({ length: count }, (_, worker) => worker) : [Number(argument)],
    all: argument === undefined,
    tail: tail === 'all' ? Number.POSITIVE_INFINITY : Number(tail),
    task,
  };
}

/** After all times: a worker has printed nothing but how it crashed. */
const LAST = '~';

/** A line without a time, as a worker prints when it crashes, has that of the line before it in its file. */
function withTimes(entries: readonly Entry[]): Entry[] {
  let at = entries.find((entry) => entry.at !== '')?.at ?? LAST;
  return entries.map((entry) => {
    at = entry.at || at;
    return { ...entry, at };
  });
}

function byTime(one: Entry, other: Entry): number {
  return one.at < other.at ? -1 : one.at > other.at ? 1 : 0;
}

/** Fires when the run has no orchestrator any more and its last lines have had time to be written, or on Ctrl-C. */
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
