import type { Readable } from 'node:stream';
import type { Attachment, Engine } from '../../engines/index.ts';
import { sleep } from '../../lib/index.ts';
import { createByteLines, createRedactor, lastLines, missingLines, openLogFile } from '../../logs/index.ts';

/** What is kept of one worker's output on the host. */
const LOG_LIMIT_BYTES = 64 * 1024 * 1024;
/** Enough to find again where the log ends. */
const OVERLAP_LINES = 1000;
/** A line without end does not grow without end. */
const LONGEST_LINE = 1024 * 1024;
/** How long output may come after the end of the container that printed it. */
const DRAIN_MS = 2000;

/** A worker's output on its way into the log of the run. */
export interface Output {
  /** Resolves when no more comes: the container has ended, or the engine has let go of us. */
  readonly ended: Promise<unknown>;
  /** Resolves when all that the container has printed is in the log. */
  settled(): Promise<void>;
}

/** From the start on. Both streams are read to their end, so that neither holds up the other. */
export function keepOutput(
  { stdout, stderr }: Pick<Attachment, 'stdout' | 'stderr'>,
  log: string,
  secrets: readonly string[],
  limitBytes = LOG_LIMIT_BYTES,
): Output {
  const file = openLogFile(log, { limitBytes });
  const redact = createRedactor(secrets);
  const ended = Promise.all([stdout, stderr].map((stream) => copyLines(stream, (text) => file.write(redact(text)))));
  return settledOutput(ended, () => file.close());
}

/** A worker that was started by somebody else: first what the log has missed, then what comes. */
export function resumeOutput(engine: Engine, id: string, log: string, secrets: readonly string[]): Output {
  const file = openLogFile(log, { limitBytes: LOG_LIMIT_BYTES });
  const redact = createRedactor(secrets);
  const over = new AbortController();
  const follow = async (): Promise<void> => {
    let kept: readonly string[] | undefined;
    for (let hasRotated = true; hasRotated && !over.signal.aborted;) {
      const printed: string[] = [];
      await readLines(engine, id, { follow: false }, (line) => printed.push(redact(line)));
      kept ??= (await lastLines(log, OVERLAP_LINES, () => true)).lines;
      for (const line of missingLines(kept, printed)) file.write(`${line}\n`);
      // It may take a moment until that can be read in the file.
      kept = printed;
      const news = createNews(printed, (line) => file.write(`${line}\n`));
      const signal = AbortSignal.any([over.signal, news.broken]);
      await readLines(engine, id, { follow: true, signal }, (line) => news.take(redact(line)));
      hasRotated = news.broken.aborted;
    }
  };
  // Who cannot be read any more is gone, or the engine is: both are noticed elsewhere.
  const ended = follow().catch(() => undefined);
  return settledOutput(ended, async () => {
    over.abort();
    await file.close();
  });
}

/**
 * Who follows gets all from the beginning once more: only what comes after what is known is new. An engine that has
 * thrown away the beginning meanwhile gives less than that; then it is to be looked at again.
 */
function createNews(
  known: readonly string[],
  onNews: (line: string) => void,
): { readonly broken: AbortSignal; take(line: string): void } {
  const broken = new AbortController();
  let at = 0;
  return {
    broken: broken.signal,
    take: (line) => {
      if (broken.signal.aborted) return;
      if (at >= known.length) return onNews(line);
      if (line === known[at]) at += 1;
      else broken.abort();
    },
  };
}

/**
 * To the end of the container, which `over` tells: whoever stops listening before that (an engine that is started anew
 * lets its containers live, and us go) begins again. Resolves when all is in the log.
 */
export async function keepToTheEnd(first: Output, resume: () => Output, over: AbortSignal): Promise<void> {
  const end = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }));
  let output = first;
  while (!over.aborted) {
    await Promise.race([output.ended, end]);
    // Most often the end of the output is that of the container: then it is over in a moment.
    await sleep(DRAIN_MS, over);
    if (over.aborted) break;
    await output.settled();
    output = resume();
  }
  await output.settled();
}

function settledOutput(ended: Promise<unknown>, close: () => Promise<void>): Output {
  let settling: Promise<void> | undefined;
  return {
    ended,
    settled: () => {
      settling ??= Promise.race([ended, sleep(DRAIN_MS)]).then(close);
      return settling;
    },
  };
}

async function readLines(
  engine: Engine,
  id: string,
  options: { readonly follow: boolean; readonly signal?: AbortSignal },
  onLine: (line: string) => void,
): Promise<void> {
  const each = (text: string): void => text.split('\n').forEach(onLine);
  const [stdout, stderr] = [createByteLines(each, LONGEST_LINE), createByteLines(each, LONGEST_LINE)];
  await engine.logs(id, { ...options, tail: 'all' }, { stdout: stdout.push, stderr: stderr.push });
  // Who only looks may have come in the middle of a line: it comes as a whole to whoever follows.
  if (!options.follow) return;
  stdout.end();
  stderr.end();
}

async function copyLines(stream: Readable, onText: (text: string) => void): Promise<void> {
  const lines = createByteLines((text) => onText(`${text}\n`), LONGEST_LINE);
  stream.on('data', (chunk: Buffer) => lines.push(chunk));
  await new Promise<void>((resolve) => {
    stream.once('close', resolve);
    stream.once('end', resolve);
    stream.once('error', () => resolve());
  });
  lines.end();
}
