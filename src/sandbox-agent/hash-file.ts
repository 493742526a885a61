import { createHash } from 'node:crypto';
import { fstatSync, readSync } from 'node:fs';

/** Of one file. A larger one would keep the agent from everything else for too long. */
export const HASHED_BYTES = 64 * 1024 ** 2;
const PART_BYTES = 1024 ** 2;

const buffer = Buffer.alloc(PART_BYTES);

/** Of an open file; null when it is too large. */
export function hashFile(fd: number): string | null {
  if (fstatSync(fd).size > HASHED_BYTES) return null;
  const hash = createHash('sha256');
  // A file that grows meanwhile ends here as well.
  for (let at = 0; at <= HASHED_BYTES;) {
    const length = readSync(fd, buffer, 0, PART_BYTES, at);
    if (length === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, length));
    at += length;
  }
  return null;
}
