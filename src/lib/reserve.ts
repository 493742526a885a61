import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** Enough to save a file, and to end processes one after the other. */
const RESERVE = 16;

/** Holds file descriptors back for an orderly end: it needs some, also when their lack is what ends the program. */
export function reserveDescriptors(): { release(): void } {
  const kept: number[] = [];
  try {
    while (kept.length < RESERVE) kept.push(openSync(devNull, 'r'));
  } catch {
    // Fewer are better than none.
  }
  return { release: () => kept.splice(0).forEach(closeSync) };
}
