import { finished } from 'node:stream/promises';
import { createTail, endOf, killGroup, sleep, startTimer } from '../../lib/index.ts';
import type { LogOptions, LogSink } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { refusal } from './cli.ts';
import type { Cli } from './cli.ts';
import { inspectContainer } from './inspect.ts';

const LOOK_MS = 500;
/** What the container printed last may come after its end. */
const LAST_WORDS_MS = 500;
const KEPT_COMPLAINT = 16_384;

/** There is one log for both outputs. The program follows it for ever, so that it is ended when the container is gone. */
export async function readLogs(cli: Cli, id: string, options: LogOptions, sink: LogSink): Promise<void> {
  const { follow, tail, signal } = options;
  const what = `read the log of container ${id}`;
  if ((await inspectContainer(cli, id)) === undefined)
    throw engineErrors.ENGINE_FAILED({ call: what, reason: `there is no container ${id}` });
  const lines = tail === 'all' ? [] : ['-n', String(tail)];
  const child = cli.talk(['logs', ...(follow ? ['--follow'] : []), ...lines, id]);
  const complaint = createTail(KEPT_COMPLAINT);
  let stopped = false;
  let expired = false;
  const stop = (): void => {
    stopped = true;
    killGroup(child.pid, 'SIGKILL');
  };
  const expire = (): void => {
    expired = true;
    stop();
  };
  const end = endOf(child, cli.place);
  const read = Promise.allSettled([child.stdout, child.stderr].map((stream) => finished(stream)));
  child.stdin.end();
  child.stdout.on('data', (chunk: Buffer) => sink.stdout(chunk));
  child.stderr.on('data', (chunk: Buffer) => complaint.push(chunk.toString()));
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  const over = new AbortController();
  const timer = follow ? undefined : startTimer(cli.limits.slowMs, expire);
  if (follow) void untilGone(cli, id, over.signal).then(stop, stop);
  try {
    const [{ code }] = await Promise.all([end, read]);
    if (expired) throw engineErrors.ENGINE_TIMEOUT({ call: what, place: cli.place, waitedMs: cli.limits.slowMs });
    if (!stopped && code !== 0) throw refusal({ what }, { code, stdout: '', stderr: complaint.text() }, cli.place);
  } finally {
    over.abort();
    timer?.cancel();
    signal?.removeEventListener('abort', stop);
  }
}

async function untilGone(cli: Cli, id: string, over: AbortSignal): Promise<void> {
  while (!over.aborted && (await inspectContainer(cli, id))?.status === 'running') await sleep(LOOK_MS, over);
  await sleep(LAST_WORDS_MS, over);
}
