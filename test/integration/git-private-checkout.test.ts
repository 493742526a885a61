import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BRANCH, openPrivate } from '../support/private-checkout.ts';
import type { PrivateWorker } from '../support/private-checkout.ts';
import { fingerprint, repositoryAt, tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

/** What a worker does in any repository: read, work, and have the work fetched. */
async function expectUsable(worker: PrivateWorker): Promise<void> {
  expect(worker.git('status', '--porcelain')).toBe('');
  worker.write('work/new.txt', 'new\n');
  const commit = await worker.commit();
  expect(await worker.fetchBundle(commit)).toEqual(['work/new.txt']);
  expect(worker.git('log', '--format=%s', '-1')).toBe('T-1: do it\n');
  worker.git('fsck', '--no-dangling');
}

/** Another repository that borrows objects of the first, by these lines. */
function borrower(from: TempRepository, name: string, lines: (objects: string, own: string) => string): TempRepository {
  const temp = repositoryAt(path.join(path.dirname(from.folder), name), from.env);
  from.git('clone', '--quiet', '--shared', from.folder, temp.folder);
  const own = path.join(temp.folder, '.git', 'objects');
  writeFileSync(path.join(own, 'info', 'alternates'), lines(path.join(from.folder, '.git', 'objects'), own));
  temp.write('.git/info/exclude', '.mahabharatha\n');
  return temp;
}

const octal = (text: string): string =>
  [...Buffer.from(text)].map((byte) => (byte < 128 ? String.fromCodePoint(byte) : `\\${byte.toString(8)}`)).join('');

describe('a private checkout', () => {
  it('of a repository with sha256 objects works', async () => {
    const worker = await openPrivate(tempRepository({ format: 'sha256' }));
    expect(worker.base).toHaveLength(64);
    await expectUsable(worker);
  });

  it('of a shallow clone works, and knows where its history ends', async () => {
    const origin = tempRepository();
    origin.commit({ 'second.txt': '2\n' });
    const temp = repositoryAt(path.join(path.dirname(origin.folder), 'shallow'), origin.env);
    origin.git('clone', '--quiet', '--depth=1', `file://${origin.folder}`, temp.folder);
    temp.write('.git/info/exclude', '.mahabharatha\n');
    const worker = await openPrivate(temp);
    expect(worker.git('rev-list', '--count', 'HEAD')).toBe('1\n');
    await expectUsable(worker);
    expect(temp.git('rev-list', '--count', BRANCH)).toBe('2');
  });

  it('of a working tree of another repository works, with a detached HEAD', async () => {
    const temp = tempRepository();
    const folder = path.join(path.dirname(temp.folder), 'a second tree');
    temp.git('worktree', 'add', '--quiet', '--detach', folder);
    await expectUsable(await openPrivate(temp, folder));
    expect(temp.git('rev-parse', BRANCH)).not.toBe(temp.git('rev-parse', 'HEAD'));
  });

  it('has branches, tags and remote branches, but not the branches of other workers', async () => {
    const temp = tempRepository();
    temp.git('tag', '--annotate', '--message=one', 'v1.0');
    temp.commit({ 'more.txt': 'more\n' });
    temp.git('branch', 'topic/ü');
    temp.git('branch', 'mahabharatha/x/worker-7');
    temp.git('update-ref', 'refs/remotes/origin/main', 'v1.0^{}');
    const worker = await openPrivate(temp);
    expect(worker.git('describe')).toMatch(/^v1\.0-1-g/);
    expect(worker.git('diff', '--name-only', 'origin/main...')).toBe('more.txt\n');
    const branches = worker.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n');
    expect(branches).toEqual([BRANCH, 'main', 'topic/ü']);
    worker.git('pack-refs', '--all');
    await expectUsable(worker);
  });

  it('has links, executable files and names of every kind, and they can be fetched from it', async () => {
    const temp = tempRepository();
    const names = [
      '-rf',
      'new\nline',
      '"quoted"',
      "it's",
      'tab\there',
      ' blanks ',
      'ü/日本.txt',
      'back\\slash',
      '*.[ch]',
    ];
    symlinkSync('nowhere/at all', path.join(temp.folder, 'link'));
    temp.write('run.sh', 'true\n');
    chmodSync(path.join(temp.folder, 'run.sh'), 0o755);
    temp.commit(Object.fromEntries(names.map((name) => [name, name])));
    const worker = await openPrivate(temp);
    for (const name of names) expect(readFileSync(path.join(worker.folder, name), 'utf8')).toBe(name);
    expect(worker.git('ls-files', '-s', 'link', 'run.sh')).toMatch(/^120000 [^]*^100755 /m);
    for (const name of names) worker.write(`${name}.new/${name}`, 'mine');
    mkdirSync(path.join(worker.folder, 'empty'));
    const changed = await worker.fetchBundle(await worker.commit());
    expect(changed).toEqual(names.map((name) => `${name}.new/${name}`).toSorted());
  });

  it('leaves submodules as empty folders, as other worktrees do, and keeps their commits', async () => {
    const inner = tempRepository();
    const temp = tempRepository();
    temp.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.folder, 'lib/inner');
    temp.commit({ 'with.txt': 'a submodule\n' });
    const worker = await openPrivate(temp);
    expect(readdirSync(path.join(worker.folder, 'lib', 'inner'))).toEqual([]);
    await expectUsable(worker);
    expect(temp.git('rev-parse', `${BRANCH}:lib/inner`)).toBe(inner.git('rev-parse', 'HEAD'));
  });

  it('replaces an earlier one, whatever is in it', async () => {
    const temp = tempRepository();
    const first = await openPrivate(temp);
    first.write('old.txt', 'old\n');
    await first.commit();
    rmSync(path.join(first.gitDir, 'HEAD'));
    const second = await openPrivate(temp);
    expect(existsSync(path.join(second.folder, 'old.txt'))).toBe(false);
    await expectUsable(second);
  });

  it('writes nothing into the repository', async () => {
    const temp = tempRepository();
    const git = path.join(temp.folder, '.git');
    const before = fingerprint(git);
    const worker = await openPrivate(temp);
    worker.write('new.txt', 'new\n');
    await worker.commit();
    worker.git('gc', '--quiet', '--prune=now');
    expect(fingerprint(git)).toEqual(before);
  });
});

describe('objects that a repository borrows', () => {
  it.each([
    ['by a whole path', (objects: string) => `# a word\n\n${objects}\n`],
    ['by a relative path', (objects: string, own: string) => `${path.relative(own, objects)}\n`],
    ['by a path in quotes', (objects: string) => `"${objects}"\n`],
    ['by a path in quotes, as git writes it', (objects: string) => `"${octal(objects)}"\n`],
    [
      'through a link',
      (objects: string, own: string) => {
        symlinkSync(objects, path.join(own, 'link'));
        return `${own}/link\n`;
      },
    ],
    ['beside some that are gone', (objects: string) => `/nowhere/objects\n${objects}\n${objects}\nalso/gone`],
  ])('%s are found', async (_, lines) => {
    const origin = tempRepository();
    const temp = borrower(origin, 'borrower', lines);
    const worker = await openPrivate(temp);
    const expected = [temp, origin].map(({ folder }) => realpathSync(path.join(folder, '.git', 'objects')));
    expect(await worker.repository.objectFolders()).toEqual(expected);
    await expectUsable(worker);
  });

  it.each(['with " and \\ in it', 'with\na line end\tand a tab'])('in a folder %j are found', async (name) => {
    const origin = tempRepository();
    const folder = path.join(path.dirname(origin.folder), name);
    const temp = borrower(origin, 'borrower', () => `${JSON.stringify(path.join(folder, '.git', 'objects'))}\n`);
    renameSync(origin.folder, folder);
    await expectUsable(await openPrivate(temp));
  });

  it('are found over several repositories, also when these borrow from each other', async () => {
    const first = tempRepository();
    const second = borrower(first, 'second', (objects) => `${objects}\n`);
    second.commit({ 'second.txt': '2\n' });
    const third = borrower(second, 'third', (objects) => `${objects}\n`);
    first.write('.git/objects/info/alternates', `${path.join(third.folder, '.git', 'objects')}\n`);
    const worker = await openPrivate(third);
    expect(await worker.repository.objectFolders()).toHaveLength(3);
    await expectUsable(worker);
  });

  it('may be packed anew, and new ones may come, while a worker uses them', async () => {
    const temp = tempRepository();
    for (const name of ['a', 'b', 'c']) temp.commit({ [`${name}.txt`]: `${name}\n` });
    const worker = await openPrivate(temp);
    worker.write('mine.txt', 'mine\n');
    const later = temp.commit({ 'later.txt': 'later\n' });
    temp.git('gc', '--quiet', '--prune=now');
    expect(worker.git('show', `${later}:later.txt`)).toBe('later\n');
    expect(worker.git('log', '--stat', '--format=%s', 'HEAD')).toContain('a.txt');
    expect(await worker.fetchBundle(await worker.commit())).toEqual(['mine.txt']);
  });
});
