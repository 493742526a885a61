import type { Readable } from 'node:stream';
import type { Attachment, Engine } from '../engines/index.ts';
import { createByteLines, sleep } from '../lib/index.ts';
import { capAttempts, createRedactor, lastLines, missingLines, openLogFile } from '../logs/index.ts';

/** What is kept of a log without sections: the newest. */
const LOG_LIMIT_BYTES = 64 * 1024 * 1024;
/** Of each section: all that an orderly program prints, and an end of what is printed past it. */
const SECTION_CAPS = { firstBytes: 20 * 1024 * 1024, lastBytes: 1024 * 1024 };
/** Enough to find again where the log ends. */
const OVERLAP_LINES = 1000;
/** A line without end does not grow without end. */
const LONGEST_LINE = 1024 * 1024;
/** How long output may come after the end of the container that printed it. */
const DRAIN_MS = 2000;

/** A container's output on its way into a log. */
export interface Output {
  /** Resolves when no more comes: the container has ended, or the engine has let go of us. */
  readonly ended: Promise<unknown>;
  /** Resolves when all that the container has printed is in the log. */
  settled(): Promise<void>;
}

interface Keeping {
  readonly log: string;
  readonly secrets?: readonly string[];
  /** Names the section of the log that is printed now: each has room of its own. */
  readonly section?: () => string;
  readonly limitBytes?: number;
}

interface Keeper {
  /** Takes one line or many at once, without the last line end. */
  take(text: string): void;
  close(): Promise<void>;
}

function openKeeper({ log, secrets = [], section, limitBytes = LOG_LIMIT_BYTES }: Keeping): Keeper {
  const redact = createRedactor(secrets);
  if (section === undefined) {
    const file = openLogFile(log, { limitBytes });
    return { take: (text) => file.write(redact(`${text}\n`)), close: file.close };
  }
  const file = openLogFile(log, { limitBytes: Number.POSITIVE_INFINITY });
  const cap = capAttempts(file.write, section, SECTION_CAPS);
  return {
    take: (text) => cap.push(redact(`${text}\n`)),
    close: () => {
      cap.end();
      return file.close();
    },
  };
}

/** From the start on. Both streams are read to their end, so that neither holds up the other. */
export function keepOutput({ stdout, stderr }: Pick<Attachment, 'stdout' | 'stderr'>, keeping: Keeping): Output {
  const keeper = openKeeper(keeping);
  const ended = Promise.all([stdout, stderr].map((stream) => copyLines(stream, keeper.take)));
  return settledOutput(ended, keeper.close);
}

/** Of a container that another process has started: first what the log has missed, then what comes. */
export function resumeOutput(engine: Engine, id: string, keeping: Keeping): Output {
  const keeper = openKeeper(keeping);
  const redact = createRedactor(keeping.secrets ?? []);
  const over = new AbortController();
  const follow = async (): Promise<void> => {
    let kept: readonly string[] | undefined;
    for (let hasRotated = true; hasRotated && !over.signal.aborted;) {
      const printed: string[] = [];
      await readLines(engine, id, { follow: false }, (line) => printed.push(redact(line)));
      kept ??= (await lastLines(keeping.log, OVERLAP_LINES, () => true)).lines;
      for (const line of missingLines(kept, printed)) keeper.take(line);
      // It may take a moment until that can be read in the file.
      kept = printed;
      const news = createNews(printed, keeper.take);
      const signal = AbortSignal.any([over.signal, news.broken]);
      await readLines(engine, id, { follow: true, signal }, (line) => news.take(redact(line)));
      hasRotated = news.broken.aborted;
    }
  };
  // A container that cannot be read any more is gone, or the engine is: both are noticed elsewhere.
  const ended = follow().catch(() => undefined);
  return settledOutput(ended, async () => {
    over.abort();
    await keeper.close();
  });
}

/**
 * Following begins with all that was printed: only what comes after what is known is new. An engine that has
 * thrown away the beginning meanwhile gives less than that; then the log is compared again.
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
 * To the end of the container, which `over` tells. An engine that is started anew lets containers live and drops who
 * listens: then it begins again. Resolves when all is in the log.
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
  // Without following, the last line may be a part: it comes as a whole when it is followed.
  if (!options.follow) return;
  stdout.end();
  stderr.end();
}

async function copyLines(stream: Readable, onLines: (text: string) => void): Promise<void> {
  const lines = createByteLines(onLines, LONGEST_LINE);
  stream.on('data', (chunk: Buffer) => lines.push(chunk));
  await new Promise<void>((resolve) => {
    stream.once('close', resolve);
    stream.once('end', resolve);
    stream.once('error', () => resolve());
  });
  lines.end();
}
