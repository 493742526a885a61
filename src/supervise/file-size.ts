import { constants } from 'node:os';
import { readSystemFile } from '../lib/index.ts';
import type { Exceeded } from './exceeded.ts';

const SIGNAL = 'SIGXFSZ';
/** The exit status by which a shell reports the signal. */
const EXIT = 128 + constants.signals[SIGNAL];

/** Undefined when a job was not ended for making a file too large. */
export function fileSizeExceeded(
  { code, signal }: { readonly code: number | null; readonly signal: string | null },
  limits = readSystemFile('/proc/self/limits'),
): Exceeded | undefined {
  if (signal !== SIGNAL && code !== EXIT) return undefined;
  const limit = /^Max file size +(\d+)/m.exec(limits)?.[1];
  return { limit: 'file-size', bytes: limit === undefined ? undefined : Number(limit) };
}
