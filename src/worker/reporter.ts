import { withoutControls, writeFileAtomic } from '../lib/index.ts';
import type { Redactor } from '../logs/index.ts';
import type { WorkerStatus } from '../protocol/index.ts';

export type Reporter = ReturnType<typeof startReporter>;

/** Fields with a fixed word, a name or a time: they hold no secrets, and are not redacted. */
const NOT_REDACTED = new Set(['session', 'phase', 'attempt', 'at', 'kind', 'outcome', 'commit', 'resetAt']);

/** The worker's status file, in which it reports everything to the orchestrator. */
export function startReporter(file: string, first: WorkerStatus, beatMs: number, redact: Redactor = (text) => text) {
  let status = first;
  let writing = Promise.resolve();
  const write = (): Promise<void> => {
    writing = writing.then(async (): Promise<void> => {
      status = { ...status, beat: status.beat + 1, at: new Date().toISOString() };
      // A result must survive a crash of the machine.
      const durable = status.result !== null;
      // What cannot be written now (a full disk) is written with the next heartbeat, or the orchestrator kills the worker.
      await writeFileAtomic(file, JSON.stringify(status), { durable }).catch(() => undefined);
    });
    return writing;
  };
  const timer = setInterval(() => void write(), beatMs);
  return {
    /** Changes the status; resolves when it is written. */
    update: (change: Partial<WorkerStatus>): Promise<void> => {
      // Redacted now: the secrets of an attempt are dropped at its end, and its texts are written again later.
      status = { ...status, ...cleared(change, redact) };
      return write();
    },
    close: (): void => clearInterval(timer),
  };
}

function cleared(change: Partial<WorkerStatus>, redact: Redactor): Partial<WorkerStatus> {
  const text = JSON.stringify(change, (key, value: unknown) =>
    typeof value === 'string' && !NOT_REDACTED.has(key) ? redacted(value, redact) : value,
  );
  return JSON.parse(text) as Partial<WorkerStatus>;
}

/** Never longer than the text: the reader of the status has a limit. */
function redacted(text: string, redact: Redactor): string {
  return withoutControls(redact(text)).slice(0, text.length);
}
