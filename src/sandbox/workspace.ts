import path from 'node:path';
import type { FileAnswer } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import type { Sandbox } from './sandbox.ts';

/** Below the longest frame, also as base64. */
const PART_BYTES = 512 * 1024;

const IN_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ELOOP: 'a link is on the way',
  ENOTDIR: 'a file or a link is on the way',
  EISDIR: 'it is a folder',
  EINVAL: 'it is no ordinary file',
  EACCES: 'it may not be read',
  ENOSPC: 'the disk of the sandbox is full',
  EFBIG: 'the file is too large',
  ENAMETOOLONG: 'the name is too long',
};

/** The files of a session, seen from the host. Every path is checked here, and again inside, where no link is followed. */
export function workspaceFiles(sandbox: Pick<Sandbox, 'files'>, root: string, uid: number) {
  return {
    write: async (file: string, content: Buffer, executable: boolean): Promise<void> => {
      const target = inside(root, file);
      for (let at = 0; at === 0 || at < content.length; at += PART_BYTES) {
        const part = content.subarray(at, at + PART_BYTES).toString('base64');
        const last = at + PART_BYTES >= content.length;
        const call = {
          op: 'write',
          uid,
          root,
          path: target,
          content: part,
          more: at > 0,
          last,
          mode: executable ? 0o755 : 0o644,
        } as const;
        await ask(file, sandbox.files(call));
      }
    },
    remove: async (file: string): Promise<void> => {
      await ask(file, sandbox.files({ op: 'remove', uid, root, path: inside(root, file) }));
    },
    /** At most `limitBytes` of it. */
    read: async (file: string, limitBytes: number): Promise<{ content: Buffer; size: number }> => {
      const parts: Buffer[] = [];
      let size = 0;
      for (let from = 0; from < limitBytes; from += PART_BYTES) {
        const bytes = Math.min(PART_BYTES, limitBytes - from);
        const answer = await ask(file, sandbox.files({ op: 'read', uid, root, path: inside(root, file), from, bytes }));
        parts.push(Buffer.from(answer.content ?? '', 'base64'));
        size = answer.size ?? 0;
        if (from + bytes >= size) break;
      }
      return { content: Buffer.concat(parts), size };
    },
  };
}

async function ask(file: string, call: Promise<FileAnswer>): Promise<Exclude<FileAnswer, { error: unknown }>> {
  const answer = await call;
  if (!('error' in answer)) return answer;
  const { code, message } = answer.error;
  throw sandboxErrors.PATH_REFUSED({ path: file, reason: IN_WORDS[code] ?? message });
}

/** Pure. The place of a path that a client names, absolute or below the workspace. Throws PATH_REFUSED. */
export function inside(root: string, file: string): string {
  const refuse = (reason: string): Error => sandboxErrors.PATH_REFUSED({ path: file, reason });
  if (file === '' || file.includes('\0')) throw refuse('it is no path');
  if (file.split('/').includes('..')) throw refuse('it leads out of the workspace');
  const target = path.posix.resolve(root, file);
  if (!target.startsWith(`${root}/`)) throw refuse('it leads out of the workspace');
  return target;
}
