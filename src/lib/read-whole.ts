import { readFile, stat } from 'node:fs/promises';
import type { Stats } from 'node:fs';

/** Open already in this process: what a shell gives it as `<(…)` has a writer. */
const OWN_DESCRIPTOR = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/**
 * Reads a file that a user may have put there or named. A named pipe would keep us waiting for a writer, and a device may never
 * end: both are refused, in words that follow "cannot be read:".
 */
export async function readWhole(file: string): Promise<Buffer> {
  const found = await stat(file);
  const kind = kindOf(found);
  if (kind !== undefined && !(found.isFIFO() && OWN_DESCRIPTOR.test(file)))
    throw new Error(`it is ${kind}, and no file`);
  return readFile(file);
}

/** A folder is refused by the system when it is read. */
function kindOf(found: Stats): string | undefined {
  if (found.isFIFO()) return 'a named pipe';
  if (found.isSocket()) return 'a socket';
  return found.isCharacterDevice() || found.isBlockDevice() ? 'a device' : undefined;
}
