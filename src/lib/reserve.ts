import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** Enough to save a file and to end processes, one after the other. */
const RESERVE = 16;

/** File descriptors for an orderly end: without them, the lack of others could neither be written down nor answered. */
export function reserveDescriptors(): { release(): void } {
  const kept: number[] = [];
  try {
    while (kept.length < RESERVE) kept.push(openSync(devNull, 'r'));
  } catch {
    // Fewer are better than none.
  }
  return { release: () => kept.splice(0).forEach(closeSync) };
}
