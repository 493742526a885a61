import { constants } from 'node:os';
import { readFileSync } from 'node:fs';
import { inBytes } from '../lib/index.ts';

const SIGNAL = 'SIGXFSZ';
/** As shells tell it. */
const EXIT = 128 + constants.signals[SIGNAL];

/** What there is to say when a job was ended because it made a file too large; undefined when it was not. */
export function fileSizeTrouble(
  { code, signal }: { readonly code: number | null; readonly signal: string | null },
  limits = ownLimits(),
): string | undefined {
  if (signal !== SIGNAL && code !== EXIT) return undefined;
  const limit = /^Max file size +(\d+)/m.exec(limits)?.[1];
  const size = limit === undefined ? '' : ` of ${inBytes(Number(limit))}`;
  return `a file was made larger than the worker's disk${size} (workers.container.disk)`;
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
