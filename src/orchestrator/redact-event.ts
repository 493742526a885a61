import type { RunEvent } from '../state/index.ts';

/** Names, ids, times and settings: they are not redacted, because the state is made of them. All other fields are texts. */
const OURS: ReadonlySet<string> = new Set(
  [
    'type at feature runId session task tasks by doing attempt outcome charge status phase mode',
    'base tip commit integration branch worktree containerId handle settings notBefore resumeAt',
  ].flatMap((words) => words.split(' ')),
);

/** The event without secrets. These may also be in file names, which a worker's status does not have. */
export function redactEvent<Event extends RunEvent>(event: Event, redact: (text: string) => string): Event {
  return redacted(event, redact) as Event;
}

function redacted(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((one) => redacted(one, redact));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value);
  return Object.fromEntries(fields.map(([key, field]) => [key, OURS.has(key) ? field : redacted(field, redact)]));
}
