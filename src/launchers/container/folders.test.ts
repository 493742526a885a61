import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import type { WorkerSpec } from '../launcher.ts';
import { closedObjects, giveFolders, maskedObjects } from './folders.ts';

const ME = process.getuid?.() ?? 0;
const [ANOTHER, NO_GROUP] = [4711, 4712];

const closedTo = (uid: number, gid: number, ...folders: string[]): Promise<string | undefined> =>
  closedObjects(folders, { uid, gid }, process.env);

function objectsIn(folder: string): string {
  const objects = path.join(folder, 'with a\nstrange name', 'objects');
  for (const name of ['pack', 'info', 'ab']) mkdirSync(path.join(objects, name), { recursive: true });
  for (const name of ['pack/one.pack', 'ab/cdef', 'info/packs']) writeFileSync(path.join(objects, name), 'x');
  chmodSync(path.join(objects, 'pack/one.pack'), 0o444);
  return objects;
}

it('objects that all users may read are open to a worker; what git is writing just now does not count', async () => {
  const objects = objectsIn(tempFolder());
  for (const name of ['pack/tmp_pack_x', 'ab/tmp_obj_y']) writeFileSync(path.join(objects, name), 'x', { mode: 0o600 });
  mkdirSync(path.join(objects, 'tmp_objdir-incoming-z'), { mode: 0o700 });
  expect(await closedTo(ANOTHER, NO_GROUP, objects)).toBeUndefined();
});

it.each([
  { what: 'pack/one.pack', mode: 0o400 },
  { what: 'ab', mode: 0o700 },
  { what: 'ab', mode: 0o744 },
  { what: '', mode: 0o700 },
])('$what with mode $mode is closed to a worker with another user, and open to its owner', async ({ what, mode }) => {
  const [open, objects] = [objectsIn(tempFolder()), objectsIn(tempFolder())];
  const closed = path.join(objects, what);
  chmodSync(closed, mode);
  expect(await closedTo(ANOTHER, NO_GROUP, open, objects)).toBe(closed.replace(/\/$/, ''));
  expect(await closedTo(ME, NO_GROUP, open, objects)).toBeUndefined();
});

it('objects that their group may read are open to a worker of that group', async () => {
  const objects = objectsIn(tempFolder());
  const { gid } = statSync(objects);
  chmodSync(path.join(objects, 'pack/one.pack'), 0o440);
  expect(await closedTo(ANOTHER, gid, objects)).toBeUndefined();
  expect(await closedTo(ANOTHER, gid + 1, objects)).toBeDefined();
});

function newSpec(): WorkerSpec {
  const top = tempFolder();
  const at = (name: string): string => path.join(top, name);
  for (const name of ['worktree', 'git', 'inbox', 'outbox', 'shared/copies']) mkdirSync(at(name), { recursive: true });
  const privateGit = { gitDir: at('git'), objects: [objectsIn(at('a')), objectsIn(at('b'))] };
  const folders = { worktree: at('worktree'), inbox: at('inbox'), outbox: at('outbox'), shared: at('shared') };
  return {
    runId: 'r',
    feature: 'f',
    worker: 0,
    session: 's',
    ...folders,
    privateGit,
    layers: null,
    log: at('log'),
    env: {},
  };
}

it('only the object folders that borrow have their lists hidden', async () => {
  const spec = newSpec();
  expect(await maskedObjects(spec)).toEqual([]);
  writeFileSync(path.join(spec.privateGit?.objects[1] ?? '', 'info', 'alternates'), '/elsewhere\n');
  expect(await maskedObjects(spec)).toEqual([1]);
});

function facts(...parts: string[]): string {
  const { uid, gid, mode } = statSync(path.join(...parts));
  return `${uid}:${gid} ${(mode & 0o777).toString(8)}`;
}

it.skipIf(ME !== 0)(
  'root gives its worker what the worker writes, nothing that links lead to, and lets it read its mail',
  async () => {
    const spec = newSpec();
    writeFileSync(path.join(spec.worktree, 'file'), '');
    const foreign = objectsIn(tempFolder());
    symlinkSync(foreign, path.join(spec.shared, 'copies', 'link'));
    writeFileSync(path.join(spec.shared, 'copies', 'key'), 'secret', { mode: 0o600 });
    for (const folder of [spec.inbox, spec.shared]) chmodSync(folder, 0o700);
    await giveFolders(spec, { uid: ANOTHER, gid: NO_GROUP });
    expect(facts(spec.worktree, 'file')).toMatch(/^4711:4712 /);
    expect(facts(spec.inbox, 'copies', 'key')).toBe('4711:4712 600');
    expect(facts(spec.shared, 'copies', 'key')).toBe(`${ME}:0 600`);
    expect([facts(spec.inbox), facts(spec.shared)]).toEqual([`${ME}:0 755`, `${ME}:0 755`]);
    expect(facts(foreign, 'ab', 'cdef')).toMatch(/^0:/);
  },
);
