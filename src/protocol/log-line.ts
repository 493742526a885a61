import * as z from 'zod/mini';
import { readJson } from '../lib/text/json.ts';

/** One line of a worker's log. The worker prints it to stdout, the launcher keeps it. */
export const logLine = z.object({
  at: z.iso.datetime(),
  worker: z.number(),
  task: z.optional(z.string()),
  attempt: z.optional(z.string()),
  /** Who has printed it: the worker itself, or what it runs. */
  source: z.enum(['worker', 'setup', 'agent', 'verify', 'gate', 'egress', 'hook']),
  text: z.string(),
});
export type LogLine = z.infer<typeof logLine>;
export type LogSource = LogLine['source'];

/** Undefined for other text, as a worker prints when it crashes. */
export function readLogLine(text: string): LogLine | undefined {
  return readJson(logLine, text);
}
