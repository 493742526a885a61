import path from 'node:path';
import { sandboxErrors } from './errors.ts';

const DEEPEST = 64;
const LONGEST = 4096;

/** Pure. The place of a path that a client names, absolute or below the workspace. Throws PATH_REFUSED. */
export function inside(root: string, file: string): string {
  const target = path.posix.resolve(root, file);
  const reason = problemOf(file) ?? (target.startsWith(`${root}/`) ? undefined : 'it leads out of the workspace');
  if (reason !== undefined) throw sandboxErrors.PATH_REFUSED({ path: printable(file), reason });
  return target;
}

function problemOf(file: string): string | undefined {
  if (file === '') return 'it is no path';
  // oxlint-disable-next-line no-control-regex -- These are what is looked for.
  if (/[\u0000-\u001f\u007f]/.test(file)) return 'it has a control character';
  if (/\p{Surrogate}/u.test(file)) return 'it is no valid text';
  if (Buffer.byteLength(file) > LONGEST) return `it is longer than ${LONGEST} bytes`;
  const names = file.split('/');
  if (names.includes('..')) return 'it leads out of the workspace';
  if (names.length > DEEPEST) return `it is more than ${DEEPEST} folders deep`;
  return names.some((name) => Buffer.byteLength(name) > 255) ? 'a name in it is longer than 255 bytes' : undefined;
}

/** For a message, which may stand in a log. */
const printable = (file: string): string => JSON.stringify(file.slice(0, 200)).slice(1, -1);
