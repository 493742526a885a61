import type { FileAnswer, FileCall } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import type { Sandbox } from './sandbox.ts';

const IN_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ELOOP: 'a link is on the way',
  ENXIO: 'it is no ordinary file',
  ENOTDIR: 'a file or a link is on the way',
  EISDIR: 'it is a folder',
  ENOTEMPTY: 'it is a folder',
  EINVAL: 'it is no ordinary file',
  EACCES: 'it may not be read or written',
  EPERM: 'it may not be read or written',
  ENOSPC: 'the disk of the sandbox is full',
  EFBIG: 'the file is too large',
  ENAMETOOLONG: 'the name is too long',
};

type Done = Exclude<FileAnswer, { error: unknown }>;
/** Asks for a file operation. Throws FILE_MISSING and PATH_REFUSED about this path. */
export type AskFiles = (named: string, call: CallOf<RootedCall>) => Promise<Done>;

type RootedCall = Extract<FileCall, { readonly root: string }>;
type CallOf<Call> = Call extends RootedCall ? Omit<Call, 'uid' | 'root'> : never;

export const reasonInWords = (error: { readonly code: string; readonly message: string }): string =>
  IN_WORDS[error.code] ?? error.message;

export function askFiles(sandbox: Pick<Sandbox, 'files'>, root: string, uid: number): AskFiles {
  return async (named, call) => {
    const answer = await sandbox.files({ ...call, uid, root });
    if (!('error' in answer)) return answer;
    const { error } = answer;
    if (error.code === 'E2BIG') throw sandboxErrors.TREE_TOO_LARGE({ reason: error.message });
    if (error.code === 'ENOENT') throw sandboxErrors.FILE_MISSING({ path: named });
    throw sandboxErrors.PATH_REFUSED({ path: named, reason: reasonInWords(error) });
  };
}
