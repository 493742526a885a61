const NOTHING = '000000';
export const GITLINK = '160000';
export const SYMLINK = '120000';

/** Options of `git diff-tree` for `rawChanges`. Ownership is checked by this list, so .gitmodules may hide no submodule. */
export const RAW_CHANGES = ['-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none'];

export interface Side {
  readonly mode: string;
  readonly id: string;
}

/** One path of `diff-tree --raw -z`; a side is null where the path is not there. */
export interface RawChange {
  readonly path: string;
  readonly before: Side | null;
  readonly after: Side | null;
}

/** Fields in pairs: ":<old mode> <new mode> <old id> <new id> <letter>", possibly after a line end, and the path. */
export function rawChanges(fields: readonly string[]): RawChange[] {
  return fields.flatMap((path, index) => {
    if (index % 2 === 0) return [];
    const [oldMode = '', mode = '', oldId = '', id = ''] = (fields[index - 1] ?? '').replace(/^\n?:/, '').split(' ');
    return [{ path, before: sideOf(oldMode, oldId), after: sideOf(mode, id) }];
  });
}

const sideOf = (mode: string, id: string): Side | null => (mode === NOTHING ? null : { mode, id });
