import type { Readable } from 'node:stream';
import type { Attachment, Engine } from '../engines/index.ts';
import { createByteLines, sleep, within } from '../lib/index.ts';
import { capAttempts, createRedactor, lastLines, missingLines, openLogFile } from '../logs/index.ts';

/** What is kept of a log without sections: its newest part. */
const LOG_LIMIT_BYTES = 64 * 1024 * 1024;
/** What is kept of each section: as much as a usual program prints, and the end of what comes after that. */
const SECTION_CAPS = { firstBytes: 20 * 1024 * 1024, lastBytes: 1024 * 1024 };
/** How many lines of the log are compared to find its end in the output. */
const OVERLAP_LINES = 1000;
/** A longer line is cut. */
const LONGEST_LINE = 1024 * 1024;
/** How long output may come after the end of the container that printed it. */
const DRAIN_MS = 2000;

/** A container's output on its way into a log. */
export interface Output {
  /** Resolves when no more comes: the container has ended, or the engine has closed the connection. */
  readonly ended: Promise<unknown>;
  /** Resolves when all that the container has printed is in the log. */
  settled(): Promise<void>;
}

interface Keeping {
  readonly log: string;
  readonly secrets?: readonly string[];
  /** Names the section that is printed now. Each section has room of its own. */
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

/** Keeps the output from the start on. Both streams are read to their end, so that neither blocks the container. */
export function keepOutput({ stdout, stderr }: Pick<Attachment, 'stdout' | 'stderr'>, keeping: Keeping): Output {
  const keeper = openKeeper(keeping);
  const ended = Promise.all([stdout, stderr].map((stream) => copyLines(stream, keeper.take)));
  return settledOutput(ended, keeper.close);
}

/** Keeps the output of a container that another process has started: first what is missing in the log, then what comes. */
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
      // Not from the file again: what was just written may not be there yet.
      kept = printed;
      const news = createNews(printed, keeper.take);
      const signal = AbortSignal.any([over.signal, news.broken]);
      await readLines(engine, id, { follow: true, signal }, (line) => news.take(redact(line)));
      hasRotated = news.broken.aborted;
    }
  };
  // The container is gone, or the engine is: both are seen where the container is waited for.
  const ended = follow().catch(() => undefined);
  return settledOutput(ended, async () => {
    over.abort();
    await keeper.close();
  });
}

/**
 * To follow a log begins with all that was printed: only the lines after the known ones are new. When the engine has
 * dropped the beginning meanwhile, the known lines do not come: then the log is compared again.
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
 * Keeps the output until `over` fires, at the end of the container. An engine that is restarted closes all connections and
 * lets containers live: then the output is resumed. Resolves when all is in the log.
 */
export async function keepToTheEnd(first: Output, resume: () => Output, over: AbortSignal): Promise<void> {
  const end = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }));
  let output = first;
  while (!over.aborted) {
    await Promise.race([output.ended, end]);
    // Most often the container has ended, too: then `over` fires within this time.
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
      settling ??= within(DRAIN_MS, ended).then(close);
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
  // Without following, the last line may be incomplete: following it brings the whole line.
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
