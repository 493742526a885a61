import type { Mount } from '../engines/index.ts';

/** A private folder in memory. Programs may run from it: they may run from the worktree anyway, and builds unpack tools there. */
export function tmpfs(
  target: string,
  mode: number,
  { bytes, uid, gid }: { readonly bytes: number; readonly uid: number; readonly gid: number },
): Mount {
  return { kind: 'tmpfs', target, bytes, mode, uid, gid, exec: true };
}
