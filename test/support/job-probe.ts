import { readdirSync } from 'node:fs';
import { reasonOf, run } from '../../src/lib/index.ts';
import type { WorkerContext } from '../../src/worker/context.ts';
import { createLog } from '../../src/worker/log.ts';
import { runShell } from '../../src/worker/shell-step.ts';

// Stands in for a worker in a container: runs the commands that it is given one after the other, as a worker runs a
// verification, and says how it went. Tests make one file of it that needs nothing else.

/** How one command went, as a line of JSON on stderr. */
export interface ProbeReport {
  readonly ok: boolean;
  readonly detail: string;
  readonly output: string;
  readonly durationMs: number;
  /** Processes that are there afterwards, beside the init and the probe. */
  readonly left: readonly string[];
  /** What a first command after it says: a worker needs git at once. */
  readonly next: string;
  /** The longest time in which nothing else had its turn: a worker must give signs of life. */
  readonly silentMs: number;
  readonly rssBytes: number;
}

export interface ProbeStep {
  readonly command: string;
  readonly timeoutMs: number;
}

const env = process.env;
const context = {
  workspace: { folder: '/tmp' },
  env,
  boot: { stopGraceMs: 500 },
  redact: (text: string) => text,
  stop: new AbortController().signal,
} as unknown as WorkerContext;
const log = createLog(0, (text) => process.stdout.write(text));

async function probe({ command, timeoutMs }: ProbeStep): Promise<ProbeReport> {
  let [last, silentMs] = [performance.now(), 0];
  const timer = setInterval(() => {
    silentMs = Math.max(silentMs, performance.now() - last);
    last = performance.now();
  }, 50);
  const about = log.about('T-1', 'a-1');
  const { ok, detail, output, durationMs } = await runShell(context, {
    source: 'verify',
    command,
    timeoutMs,
    log: about,
  });
  silentMs = Math.max(silentMs, performance.now() - last);
  clearInterval(timer);
  const left = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !['1', String(process.pid)].includes(name));
  const next = await run('bash', ['-c', 'echo works'], { cwd: '/', env }).then(({ stdout }) => stdout.trim(), reasonOf);
  const rssBytes = process.memoryUsage().rss;
  return { ok, detail, output, durationMs, left, next, silentMs: Math.round(silentMs), rssBytes };
}

const steps: readonly ProbeStep[] = JSON.parse(process.argv[2] ?? '[]');
for (const step of steps) process.stderr.write(`${JSON.stringify(await probe(step))}\n`);
