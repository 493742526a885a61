import { existsSync, mkdirSync, readdirSync, readFileSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import type { Repository } from '../../src/git/index.ts';
import { blob, bundleOf, commit, idOf, tag, tree } from '../support/hostile-bundle.ts';
import type { RawObject } from '../support/hostile-bundle.ts';
import { fingerprint, tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

const BRANCH = 'mahabharatha/x/worker-0';
const REF = `refs/heads/${BRANCH}`;
const EVIL = blob('evil\n');
const NOWHERE = '1234567890123456789012345678901234567890';

interface Scene {
  readonly host: TempRepository;
  readonly repository: Repository;
  readonly base: string;
  /** A repository that borrows the host's objects, as a worker's does. */
  readonly worker: string;
  /** The path of the bundle on the host. */
  readonly file: string;
  git(...args: readonly string[]): string;
  /** Puts a commit of the worker's into a bundle. */
  bundle(files: Readonly<Record<string, string>>): string;
}

async function openScene(format: 'sha1' | 'sha256' = 'sha1'): Promise<Scene> {
  const host = tempRepository({ format });
  const base = host.commit({ 'src/a.txt': 'a\n'.repeat(500) });
  const worker = path.join(host.folder, '..', 'worker');
  host.git('clone', '--quiet', '--shared', '.', worker);
  const git = (...args: readonly string[]): string => host.gitIn(worker, ...args);
  const file = path.join(host.folder, '..', 'work.bundle');
  return {
    host,
    repository: await openRepository(host.folder, host.env),
    base,
    worker,
    file,
    git,
    bundle: (files) => {
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(worker, name), text);
      git('checkout', '--quiet', '-B', BRANCH);
      git('add', '--all');
      git('commit', '--quiet', '--message', 'work');
      git('bundle', 'create', '--quiet', file, BRANCH, `^${base}`);
      return git('rev-parse', BRANCH);
    },
  };
}

const ours = (name: string): boolean => name.startsWith('objects/pack');

const gitDirOf = ({ host }: Scene): Record<string, string> => fingerprint(path.join(host.folder, '.git'));

/** The bundle is refused for this reason, and no file of the repository has changed. */
async function expectRefused(scene: Scene, reason: string | RegExp): Promise<void> {
  const error = await failureOf(scene);
  expect(error.message).toMatch(reason);
  expect(['BUNDLE_REFUSED', 'FILE_UNREADABLE']).toContain(error.code);
}

/** Fetching fails, and no file of the repository has changed. */
async function failureOf(scene: Scene, repository = scene.repository): Promise<Error & { code?: string }> {
  const before = gitDirOf(scene);
  const failure = await repository.fetchBundle({ file: scene.file, branch: BRANCH }).then(
    () => new Error('it was accepted'),
    (error: Error) => error,
  );
  expect(gitDirOf(scene)).toEqual(before);
  return failure;
}

describe('fetching from a bundle', () => {
  it.each(['sha1', 'sha256'] as const)(
    'takes the commit of the branch, with a pack of its own (%s)',
    async (format) => {
      const scene = await openScene(format);
      const before = gitDirOf(scene);
      const tip = scene.bundle({ 'src/a.txt': `${'a\n'.repeat(500)}b\n`, 'large.bin': 'x'.repeat(20_000_000) });
      for (const _ of ['once', 'and again']) {
        const fetched = await scene.repository.fetchBundle({ file: scene.file, branch: BRANCH });
        expect(fetched).toMatchObject({ commit: tip, parents: [scene.base] });
        expect(fetched.changes.map((change) => change.path)).toEqual(['large.bin', 'src/a.txt']);
      }
      expect(scene.host.git('log', '--format=%s', `main..${tip}`)).toBe('work');
      scene.host.git('fsck', '--strict', '--no-dangling', tip);
      expect(fingerprint(path.join(scene.host.folder, '.git'), ours)).toEqual(
        Object.fromEntries(Object.entries(before).filter(([name]) => !ours(name))),
      );
    },
  );

  it('makes no ref', async () => {
    const scene = await openScene();
    scene.git('checkout', '--quiet', '--detach');
    scene.git('commit', '--quiet', '--allow-empty', '--message', 'other');
    const names = [
      'refs/heads/main',
      'refs/heads/mahabharatha/x/integration',
      'refs/tags/v1',
      `refs/replace/${scene.base}`,
    ];
    for (const name of names) scene.git('update-ref', name, 'HEAD');
    scene.bundle({ 'b.txt': 'b\n' });
    scene.git('bundle', 'create', '--quiet', scene.file, '--all', `^${scene.base}`);
    await scene.repository.fetchBundle({ file: scene.file, branch: BRANCH });
    expect(scene.host.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(scene.host.git('rev-parse', 'main')).toBe(scene.base);
  });

  it('runs no hook of the repository', async () => {
    const scene = await openScene();
    const marker = path.join(scene.host.folder, '..', 'marker');
    for (const hook of ['reference-transaction', 'post-update', 'update', 'pre-receive', 'post-merge']) {
      const file = path.join(scene.host.folder, '.git', 'hooks', hook);
      writeFileSync(file, `#!/bin/sh\ntouch '${marker}'\n`, { mode: 0o755 });
    }
    scene.bundle({ 'b.txt': 'b\n' });
    await scene.repository.fetchBundle({ file: scene.file, branch: BRANCH });
    expect(readdirSync(path.dirname(marker))).not.toContain('marker');
  });
});

describe('a file that is no complete bundle is refused', () => {
  it.each<[string, (scene: Scene) => string | Buffer]>([
    ['an empty file', () => ''],
    ['garbage', () => Buffer.alloc(100_000, 'x')],
    ['the beginning of one', () => '# v2 git bundle'],
    ['another repository, named as git does it', ({ worker }) => `gitdir: ${worker}/.git\n`],
    ['the wrong signature', ({ file }) => readFileSync(file, 'latin1').replace('v2', 'v9')],
    ['an unknown line', ({ file }) => readFileSync(file, 'latin1').replace('bundle\n', 'bundle\n@filter=blob:none\n')],
    [
      'a ref with control characters after it',
      ({ file }) => readFileSync(file, 'latin1').replace(BRANCH, `${BRANCH} \u001b[2J`),
    ],
  ])('%s', async (_, make) => {
    const scene = await openScene();
    scene.bundle({ 'b.txt': 'b\n' });
    writeFileSync(scene.file, make(scene), 'latin1');
    await expectRefused(scene, /it is not a git bundle/);
  });

  it('one without the branch', async () => {
    const scene = await openScene();
    scene.bundle({ 'b.txt': 'b\n' });
    scene.git('branch', '--quiet', '--force', 'main', BRANCH);
    scene.git('bundle', 'create', '--quiet', scene.file, 'main', `^${scene.base}`);
    await expectRefused(scene, `there is no ${REF} in this bundle`);
  });

  it.each([
    ['half of its pack', (whole: Buffer) => whole.subarray(0, -30)],
    ['a changed byte', (whole: Buffer) => Buffer.concat([whole.subarray(0, -30), Buffer.alloc(30, 1)])],
    ['no pack', (whole: Buffer) => whole.subarray(0, whole.indexOf('PACK'))],
  ])('one with %s', async (_, cut) => {
    const scene = await openScene();
    scene.bundle({ 'b.txt': 'b\n'.repeat(9) });
    writeFileSync(scene.file, cut(readFileSync(scene.file)));
    await expectRefused(scene, 'index-pack');
  });

  it('one that was made with a filter', async () => {
    const scene = await openScene();
    scene.bundle({ 'b.txt': 'b\n' });
    const limits = [BRANCH, `^${scene.base}`, '--filter=blob:none'];
    scene.git('bundle', 'create', '--quiet', '--version=3', scene.file, ...limits);
    await expectRefused(scene, 'it is not a git bundle');
  });
});

describe('malformed objects are refused', () => {
  it.each(['.git', '.GIT', 'git~1', '.git ', '.git.', '.git::$INDEX_ALLOCATION', '..', '.', '', 'a/b', '.g\u200cit'])(
    'a file that is called "%s"',
    async (name) => {
      const scene = await openScene();
      pack(scene, tree(['100644', name, idOf(EVIL)]), EVIL);
      await expectRefused(scene, /index-pack.*fsck error/s);
    },
  );

  it.each<[string, string]>([
    ['a submodule whose address is an option', '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=marker\n'],
    [
      'a submodule whose name leads out of the repository',
      '[submodule "../../x"]\n\tpath = x\n\turl = https://example.org/x\n',
    ],
    ['a submodule that is updated by a command', '[submodule "x"]\n\tpath = x\n\turl = u\n\tupdate = !touch marker\n'],
  ])('%s', async (_, text) => {
    const scene = await openScene();
    const modules = blob(text);
    pack(scene, tree(['100644', '.gitmodules', idOf(modules)]), modules);
    await expectRefused(scene, /index-pack.*gitmodules/s);
  });

  it.each<[string, (scene: Scene) => readonly [tip: string, ...objects: RawObject[]]]>([
    [
      'a commit without an address of its author',
      ({ base }) => withTip(commit(idOf(tree()), [base], 'Author'), tree()),
    ],
    ['a commit without its tree', ({ base }) => withTip(commit(NOWHERE, [base]))],
    ['a commit whose parent is missing', () => withTip(commit(idOf(tree()), [NOWHERE]), tree())],
    ['a tree without its file', ({ base }) => withTree(base, tree(['100644', 'a', NOWHERE]))],
    ['a tree in the place of a commit', () => withTip(tree(['100644', 'a', idOf(EVIL)]), EVIL)],
    ['a file in the place of a commit', () => withTip(EVIL)],
    ['a tag in the place of its commit', ({ base }) => withTag(commit(idOf(tree()), [base]), tree())],
    ['a ref to an object that is not in it', () => [NOWHERE, EVIL]],
    [
      'one name twice',
      ({ base }) => withTree(base, tree(...(['a', 'a'].map((n) => ['100644', n, idOf(EVIL)]) as [])), EVIL),
    ],
  ])('%s', async (_, make) => {
    const scene = await openScene();
    const [tip, ...objects] = make(scene);
    writeFileSync(scene.file, bundleOf(REF, tip, objects));
    await expectRefused(scene, /index-pack|rev-list|diff-tree|is not a commit/);
  });
});

function pack(scene: Scene, top: RawObject, ...others: readonly RawObject[]): void {
  const tip = commit(idOf(top), [scene.base]);
  writeFileSync(scene.file, bundleOf(REF, idOf(tip), [tip, top, ...others], [scene.base]));
}

const withTip = (tip: RawObject, ...others: readonly RawObject[]): readonly [string, ...RawObject[]] => [
  idOf(tip),
  tip,
  ...others,
];

function withTag(target: RawObject, ...others: readonly RawObject[]): readonly [string, ...RawObject[]] {
  return withTip(tag(target, 'work'), target, ...others);
}

function withTree(base: string, top: RawObject, ...others: readonly RawObject[]): readonly [string, ...RawObject[]] {
  return withTip(commit(idOf(top), [base]), top, ...others);
}

describe('a bundle that would need too much memory or time is refused', () => {
  it.each<[string, (base: string) => readonly (RawObject & { size?: number })[]]>([
    ['a tree of four gigabytes', () => [{ ...tree(), data: Buffer.alloc(1000), size: 4e9 }]],
    ['fifty thousand nested folders', (base) => nested(base, 50_000, 1)],
    ['nested folders with too long a path', (base) => nested(base, 3000, 1)],
  ])('%s', async (_, make) => {
    const scene = await openScene();
    const objects = make(scene.base);
    writeFileSync(scene.file, bundleOf(REF, idOf(objects.at(-1) ?? EVIL), objects, [scene.base]));
    await expectRefused(scene, /index-pack|rev-list|a path in/);
  });
});

describe('a bundle whose list of paths is too long is refused in words that a task understands', () => {
  it.each<[string, (base: string) => RawObject[]]>([
    ['few paths, which are long', longPaths],
    ['few trees that stand for ten thousand million files', (base) => nested(base, 10, 10)],
  ])('%s', async (_, make) => {
    const scene = await openScene();
    const objects = make(scene.base);
    const bundle = bundleOf(REF, idOf(objects.at(-1) ?? EVIL), objects, [scene.base]);
    expect(bundle.length).toBeLessThan(10_000);
    writeFileSync(scene.file, bundle);
    await expectRefused(scene, /changes too many paths, or too long ones: the list of them has more than 64 MiB$/);
  });
});

describe('the fault', () => {
  const MACHINE = ['No space left on device', 'Permission denied', 'Read-only file system'];

  it.each(MACHINE)("is the worker's when a folder of a task has this name: %s", async (words) => {
    const scene = await openScene();
    const objects = nested(scene.base, 300, 1, words);
    writeFileSync(scene.file, bundleOf(REF, idOf(objects.at(-1) ?? EVIL), objects, [scene.base]));
    await expectRefused(scene, /a path in .* is longer than 4096 bytes/);
  });

  it("is the worker's when a submodule of a task has such a name", async () => {
    const scene = await openScene();
    const modules = blob('[submodule "x"]\n\tpath = -: No space left on device\n\turl = u\n');
    pack(scene, tree(['100644', '.gitmodules', idOf(modules)]), modules);
    await expectRefused(scene, /No space left on device/);
  });

  it('is that of this machine when nothing can be written', async () => {
    const scene = await openScene();
    scene.bundle({ 'b.txt': 'b\n' });
    const folder = path.join(scene.host.folder, '..', 'bin');
    mkdirSync(folder);
    const [git] = (scene.host.env['PATH'] ?? '').split(':').filter((place) => existsSync(path.join(place, 'git')));
    const script = `#!/bin/sh\ncase "$*" in *index-pack*) rm -r "$GIT_OBJECT_DIRECTORY"; exit 128;; esac\nexec '${git}/git' "$@"\n`;
    writeFileSync(path.join(folder, 'git'), script, { mode: 0o755 });
    const env = { ...scene.host.env, PATH: `${folder}:${scene.host.env['PATH']}` };
    const error = await failureOf(scene, await openRepository(scene.host.folder, env));
    expect(error).toMatchObject({ code: 'FILE_UNWRITABLE', message: expect.stringContaining('objects') });
  });

  it('is that of this machine when there is no room for three times the bundle', async () => {
    const scene = await openScene();
    scene.bundle({ 'b.txt': 'b\n' });
    const { bavail, bsize } = statfsSync(scene.host.folder);
    truncateSync(scene.file, Math.ceil((bavail * bsize) / 2));
    const error = await failureOf(scene);
    expect(error).toMatchObject({ code: 'FILE_UNWRITABLE', message: expect.stringMatching(/\d+ MB are free/) });
  });
});

/** Each tree contains the one before it `width` times; the commit comes last. */
function nested(base: string, depth: number, width: number, name = ''): RawObject[] {
  const objects: RawObject[] = [EVIL, tree(['100644', 'f', idOf(EVIL)])];
  let below = idOf(objects[1] ?? EVIL);
  for (let level = 1; level < depth; level++) {
    const id = below;
    const next = tree(...Array.from({ length: width }, (_, n) => ['40000', `${name}${n}`, id] as const));
    objects.push(next);
    below = idOf(next);
  }
  return [...objects, commit(below, [base])];
}

/** 140,000 paths of about 3,900 bytes, none too long: a thousand files in fourteen folders, under 140 names. */
function longPaths(base: string): RawObject[] {
  const files = Array.from(
    { length: 1000 },
    (_, n) => ['100644', String(1000 + n).padEnd(240, 'f'), idOf(EVIL)] as const,
  );
  const objects = [EVIL, tree(...files)];
  for (let depth = 0; depth < 14; depth++) objects.push(tree(['40000', 'd'.repeat(250), idOf(objects.at(-1) ?? EVIL)]));
  const below = idOf(objects.at(-1) ?? EVIL);
  const top = tree(...Array.from({ length: 140 }, (_, n) => ['40000', String(n).padStart(3, '0'), below] as const));
  return [...objects, top, commit(idOf(top), [base])];
}
