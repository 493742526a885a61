import { constants } from 'node:os';
import type { ContainerExit } from '../engines/index.ts';
import { inBytes } from '../lib/index.ts';
import type { ContainerEnd } from './container-wish.ts';

const KILLED = 128 + constants.signals.SIGKILL;

/** Pure: how a container ended. An init reports a signal as 128 plus its number. */
export function containerEnd(
  { code, oomKilled }: ContainerExit,
  known: { readonly overLimit: string | undefined; readonly memoryBytes: number },
): ContainerEnd {
  const exit = { code: signalOf(code) === null ? code : null, signal: signalOf(code) };
  if (known.overLimit !== undefined) return { ...exit, overLimit: known.overLimit };
  if (oomKilled && code === KILLED)
    return { ...exit, overLimit: `killed: its memory of ${inBytes(known.memoryBytes)} was used up` };
  return exit;
}

function signalOf(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  const found = Object.entries(constants.signals).find(([, number]) => number === code - 128);
  return found?.[0] ?? null;
}
