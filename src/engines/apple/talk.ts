import { finished } from 'node:stream/promises';
import { createTail, endOf, killGroup, reasonOf, sleep } from '../../lib/index.ts';
import type { AppError, TalkingProcess } from '../../lib/index.ts';
import type { ContainerExit } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import type { Streams } from './attachment.ts';
import type { Cli } from './cli.ts';
import { isRefusal, reasonIn } from './complaints.ts';
import { inspectContainer } from './inspect.ts';
import { removeContainer } from './removal.ts';

const START_LOOK_MS = 100;
const RUNNING_LOOK_MS = 500;
/** The program may hang after the container has ended: its closed output is the first sign of that. */
const SILENT_LOOK_MS = 1000;
const TALKING_LOOK_MS = 30_000;
const LAST_WORDS_MS = 3000;
const KEPT_COMPLAINT = 16_384;

/** The run of the program that starts a container and lasts as long as that. */
export interface Talk {
  readonly child: TalkingProcess;
  readonly end: ReturnType<typeof endOf>;
  /** Resolves when both outputs have ended. */
  readonly silent: Promise<unknown>;
  readonly complaint: () => string;
  /** Something was printed, so the container has run. */
  readonly hasPrinted: () => boolean;
}

export function begin(cli: Cli, id: string, streams: Streams | undefined, interactive: boolean): Talk {
  const child = cli.talk(['start', '--attach', ...(interactive ? ['--interactive'] : []), id]);
  const complaint = createTail(KEPT_COMPLAINT);
  let printed = false;
  const end = endOf(child, cli.place);
  const silent = Promise.allSettled([child.stdout, child.stderr].map((stream) => finished(stream)));
  child.stdout.once('data', () => (printed = true));
  child.stderr.on('data', (chunk: Buffer) => complaint.push(chunk.toString()));
  if (streams === undefined) child.stdin.end();
  else streams.join(child);
  for (const stream of streams === undefined ? [child.stdout, child.stderr] : []) stream.resume();
  return { child, end, silent, complaint: complaint.text, hasPrinted: () => printed };
}

/** Resolves when the container has begun; throws what the program says when it could not. */
export async function started(
  cli: Cli,
  { id, what, talk }: { readonly id: string; readonly what: string; readonly talk: Talk },
): Promise<void> {
  const over = new AbortController();
  const ended = talk.end.then(
    ({ code }) => ({ code }),
    (error: unknown): AppError =>
      engineErrors.ENGINE_UNREACHABLE({ tried: [`${cli.place}: ${reasonOf(error)}`] }, { cause: error }),
  );
  try {
    const first = await Promise.race([ended, untilBegun(cli, { id, what }, over.signal)]);
    if (first === undefined) return;
    if (first instanceof Error) throw first;
    await talk.silent;
    const refused = first.code !== 0 && !talk.hasPrinted() && isRefusal(talk.complaint());
    if (refused) throw engineErrors.ENGINE_FAILED({ call: what, reason: reasonIn(talk.complaint(), first.code) });
  } finally {
    over.abort();
  }
}

async function untilBegun(
  cli: Cli,
  { id, what }: { readonly id: string; readonly what: string },
  signal: AbortSignal,
): Promise<undefined> {
  const { slowMs: waitedMs } = cli.limits;
  const until = performance.now() + waitedMs;
  while (!signal.aborted) {
    const status = (await inspectContainer(cli, id))?.status;
    if (status === 'running') return;
    if (status !== 'created') {
      // It was short, or could not start: only the program knows, unless it hangs.
      await sleep(LAST_WORDS_MS, signal);
      return;
    }
    if (performance.now() > until) throw engineErrors.ENGINE_TIMEOUT({ call: what, place: cli.place, waitedMs });
    await sleep(START_LOOK_MS, signal);
  }
}

export async function exitAfter(cli: Cli, id: string, { child, end, silent }: Talk): Promise<ContainerExit> {
  const over = new AbortController();
  const hung = untilHung(cli, id, silent, over.signal);
  const { code } = await Promise.race([end.catch(() => ({ code: null })), hung]);
  over.abort();
  killGroup(child.pid, 'SIGKILL');
  await untilRemoved(cli, id);
  return { code, oomKilled: false };
}

/** Resolves when the container is over and the program has not noticed. */
async function untilHung(
  cli: Cli,
  id: string,
  silent: Promise<unknown>,
  over: AbortSignal,
): Promise<{ readonly code: null }> {
  let lookMs = TALKING_LOOK_MS;
  const quiet = silent.then(() => (lookMs = SILENT_LOOK_MS));
  while (!over.aborted) {
    await Promise.race([sleep(lookMs, over), ...(lookMs === TALKING_LOOK_MS ? [quiet] : [])]);
    if (lookMs === SILENT_LOOK_MS) await sleep(SILENT_LOOK_MS, over);
    if (over.aborted) break;
    const status = (await inspectContainer(cli, id).catch(() => ({ status: 'other' })))?.status;
    if (status !== undefined && status !== 'exited') continue;
    await sleep(LAST_WORDS_MS, over);
    break;
  }
  return { code: null };
}

/** A container that has ended removes itself; one that stays is helped. */
async function untilRemoved(cli: Cli, id: string): Promise<void> {
  const until = performance.now() + LAST_WORDS_MS;
  for (;;) {
    const found = await inspectContainer(cli, id);
    if (found === undefined) return;
    if (found.status === 'exited' && performance.now() > until) return removeContainer(cli, id);
    await sleep(found.status === 'running' ? RUNNING_LOOK_MS : START_LOOK_MS);
  }
}
