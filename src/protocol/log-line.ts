import { z } from 'zod';
import { readJson } from '../lib/text/json.ts';

/** One line of a worker's log. The worker prints them to stdout; the launcher keeps them. */
export const logLine = z.object({
  at: z.iso.datetime(),
  worker: z.number(),
  task: z.string().optional(),
  attempt: z.string().optional(),
  /** What speaks: the worker itself, or what it runs. */
  source: z.enum(['worker', 'setup', 'agent', 'verify', 'gate', 'egress']),
  text: z.string(),
});
export type LogLine = z.infer<typeof logLine>;
export type LogSource = LogLine['source'];

/** Undefined for what is none, as what a worker prints when it breaks. */
export function readLogLine(text: string): LogLine | undefined {
  return readJson(logLine, text);
}
