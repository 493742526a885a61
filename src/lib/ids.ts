import { closeSync, openSync, readSync } from 'node:fs';

/** A short id that sorts by time: "20261118t080122-a1b2c3". */
export function timeId(now: number): string {
  const stamp = new Date(now)
    .toISOString()
    .replaceAll(/[-:]|\.\d+Z$/g, '')
    .toLowerCase();
  return `${stamp}-${randomHex(3)}`;
}

export function randomId(): string {
  return randomHex(8);
}

/** From the system itself: to load node:crypto takes a processor 5 ms, which each worker would need for a few such bytes. */
function randomHex(length: number): string {
  const source = openSync('/dev/urandom', 'r');
  try {
    const bytes = Buffer.alloc(length);
    readSync(source, bytes);
    return bytes.toString('hex');
  } finally {
    closeSync(source);
  }
}
