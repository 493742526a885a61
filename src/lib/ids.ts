import { randomBytes } from 'node:crypto';

/** A short id that sorts by time: "20261118t080122-a1b2c3". */
export function timeId(now: number): string {
  const stamp = new Date(now)
    .toISOString()
    .replaceAll(/[-:]|\.\d+Z$/g, '')
    .toLowerCase();
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}

export function randomId(): string {
  return randomBytes(8).toString('hex');
}
