import { constants } from 'node:os';
import type { SandboxEnd } from '../protocol/index.ts';

const TIMED_OUT = 124;
const NOT_STARTED = 126;
const ENDED = 128 + constants.signals.SIGTERM;

/** As a shell says it. */
export function exitCode({ endedBy, code, signal }: Pick<SandboxEnd, 'endedBy' | 'code' | 'signal'>): number {
  if (endedBy === 'timeout') return TIMED_OUT;
  // It has not done what it was to do, whatever it says of itself.
  if (endedBy === 'killed' && code === 0) return ENDED;
  if (code !== null) return code;
  const number = constants.signals[signal as NodeJS.Signals] ?? 0;
  return signal === null ? NOT_STARTED : 128 + number;
}

export const megabytes = (bytes: number): number => Math.round((bytes / 1024 ** 2) * 10) / 10;
