import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import { brokenLinks, documentsIn } from '../support/links.ts';
import { installPackage } from '../support/package.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { docker, whySkipped, withImageLock } from '../support/worker-image.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The cap is for what gets in by mistake. */
const LARGEST_BYTES = 4 * 1024 ** 2;

let installed: ReturnType<typeof installPackage>;
beforeAll(() => {
  installed = installPackage();
});
afterAll(() => installed.remove());

type Manifest = Readonly<Record<string, unknown>>;
const jsonOf = (folder: string, file: string): Manifest =>
  JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Manifest;

/** Runs the installed program to its end; returns what it has printed. */
function call(args: readonly string[], where: { cwd: string; env: NodeJS.ProcessEnv }): string {
  const { status, stdout, stderr } = spawnSync(installed.program, args, { ...where, encoding: 'utf8' });
  expect(status, `mahabharatha ${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

describe('the published package', () => {
  it('has no scripts, and brings no other package: all that it needs is inside, with its licence', () => {
    const { scripts, devDependencies, overrides, ...rest } = jsonOf(ROOT, 'package.json');
    expect([scripts, devDependencies, overrides]).not.toContain(undefined);
    expect(jsonOf(installed.folder, 'package.json')).toEqual(rest);
    expect(rest).not.toHaveProperty('dependencies');
    expect(installed.said).toMatch(/^added 1 package in/m);
    expect(installed.said).not.toMatch(/EBADENGINE|deprecated/i);
    for (const [program, inside] of [
      ['cli', 'fastify'],
      ['worker', 'zod'],
      ['page', '@xterm/xterm'],
    ])
      expect(readFileSync(path.join(installed.folder, `dist/bundle/${program}/LICENSES.txt`), 'utf8')).toContain(
        `== ${inside} `,
      );
  });

  it('is small, and has no sources, tests or programs of single files', () => {
    const own = readdirSync(installed.folder, { recursive: true, encoding: 'utf8' });
    expect(readFileSync(installed.tarball).length).toBeLessThan(LARGEST_BYTES);
    expect(readdirSync(path.join(installed.folder, 'dist'))).toEqual(['bundle', 'client']);
    expect(own.filter((file) => /^(src|test|bench|scripts)\b|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  it('has no document with a link that leads nowhere', () => {
    const folders = ['docs', 'examples', 'docker'].flatMap((folder) => documentsIn(installed.folder, folder));
    expect(folders.length).toBeGreaterThan(20);
    expect(brokenLinks(installed.folder, ['README.md', 'CHANGELOG.md', ...folders])).toEqual([]);
  });

  it('is as other programs expect a package to be', async () => {
    const content = readFileSync(installed.tarball);
    const tarball = content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength);
    expect((await publint({ pack: { tarball } })).messages).toEqual([]);
  });

  it('leaves the clone as it was, also when the packing before was killed', () => {
    const { clone } = installed;
    const manifest = readFileSync(path.join(ROOT, 'package.json'), 'utf8');
    const isAsBefore = (): void => {
      expect(readFileSync(path.join(clone, 'package.json'), 'utf8')).toBe(manifest);
      expect(existsSync(path.join(clone, 'package.json.kept'))).toBe(false);
    };
    isAsBefore();
    const undo = (): number | null =>
      spawnSync(process.execPath, ['scripts/published.js', 'undo'], { cwd: clone }).status;
    // As a packing leaves it that was killed.
    const kill = (published: string): void => {
      renameSync(path.join(clone, 'package.json'), path.join(clone, 'package.json.kept'));
      writeFileSync(path.join(clone, 'package.json'), published);
    };
    const published = readFileSync(path.join(installed.folder, 'package.json'), 'utf8');
    kill(published);
    expect(undo()).toBe(0);
    isAsBefore();
    kill(published.replace('{', '{ "changed": true,'));
    expect(undo(), 'a change that somebody has made since is not thrown away').toBe(1);
    expect(readFileSync(path.join(clone, 'package.json'), 'utf8')).toContain('"changed"');
  });

  it('says where its documents are, and init puts schemas where errors say they are', async () => {
    const cwd = tempFolder();
    const env = { ...process.env, HOME: tempFolder(), XDG_STATE_HOME: undefined, XDG_CONFIG_HOME: undefined };
    const [, docs = ''] = /Documents: +(.*)/.exec(call(['--help'], { cwd, env })) ?? [];
    expect(documentsIn(docs, '.')).toContain('containers.md');
    execFileSync('git', ['init', '--quiet'], { cwd });
    const author = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
    execFileSync('git', [...author, 'commit', '--quiet', '--allow-empty', '--message', 'first'], { cwd });
    call(['init'], { cwd, env });
    writeFileSync(path.join(cwd, '.mahabharatha/config.yaml'), 'nothing: 1\n');
    writeFileSync(path.join(cwd, '.mahabharatha/specs/example/task-graph.json'), '{}\n');
    for (const command of ['check', 'doctor']) {
      const { stdout, stderr } = spawnSync(installed.program, [command], {
        cwd,
        env,
        encoding: 'utf8',
      });
      const named = (stdout + stderr).match(/[\w./-]+\.schema\.json/g) ?? [];
      expect(named, stdout + stderr).not.toEqual([]);
      expect(named.filter((file) => !existsSync(path.join(cwd, file)))).toEqual([]);
    }
  });
});

describe('the installed program, as a newcomer uses it', () => {
  it('builds the example from a subfolder, without a terminal and without an engine, and completes words', () => {
    const [cwd, home] = [tempFolder(), tempFolder()];
    const env = { ...process.env, HOME: home, XDG_STATE_HOME: undefined, XDG_CONFIG_HOME: undefined };
    const without = { ...env, DOCKER_HOST: `unix://${path.join(home, 'nothing.sock')}` };
    const git = (...args: string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' });
    git('init', '--quiet', '--initial-branch', 'main');
    git('config', 'user.name', 'x');
    git('config', 'user.email', 'x@example.org');
    call(['init'], { cwd, env });
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    const below = path.join(cwd, 'some/folder');
    mkdirSync(below, { recursive: true });

    expect(call(['list'], { cwd: below, env })).toContain('mahabharatha kurukshetra --feature example');
    const graph = path.relative(below, path.join(cwd, '.mahabharatha/specs/example/task-graph.json'));
    expect(call(['check', '--task-graph', graph], { cwd: below, env })).toContain('3 tasks in 2 levels');
    const refused = spawnSync(installed.program, ['run', '--mode', 'container'], {
      cwd: below,
      env: without,
      encoding: 'utf8',
    });
    expect([refused.status, refused.stderr]).toEqual([4, expect.stringMatching(/No container engine.*DOCKER_HOST/s)]);
    expect(call(['run', '--mode', 'subprocess'], { cwd: below, env: without })).toContain('3 of 3 tasks are merged');
    expect(call(['report'], { cwd: below, env })).toContain('# Feature example: complete');
    call(['merge'], { cwd: below, env });
    call(['cleanup', '--yes'], { cwd: below, env });
    expect([git('status', '--porcelain'), git('branch', '--format', '%(refname:short)')]).toEqual(['', 'main\n']);

    for (const shell of ['bash', 'zsh', 'fish'])
      expect(call(['completion', shell], { cwd: below, env })).toContain('mahabharatha completion words');
    expect(call(['completion', 'words', '--', 'kuru'], { cwd: below, env })).toBe('kurukshetra\n');
  });
});

describe.skipIf(docker.why !== '')(`the installed program${whySkipped}`, () => {
  it('runs the demo, looks at the machine, builds the image of workers and a feature in containers', async () => {
    const project = await createContainerProject({ workers: 'count: 2' });
    try {
      const inProject = (...args: string[]): string => call(args, { cwd: project.folder, env: project.env });
      expect(inProject('demo', '--dir', path.join(project.outside, 'demo'))).toContain('4 of 4 tasks are merged');

      // With the user's own npm: that of the project has another home, and so another registry.
      const buildArgs = ['build', '--base-image', docker.image];
      await withImageLock(async () => call(buildArgs, { cwd: project.outside, env: process.env }));
      const { ok, findings } = JSON.parse(inProject('doctor', '--json')) as {
        ok: boolean;
        findings: { what: string; state: string; found: string }[];
      };
      expect(ok).toBe(true);
      expect(findings.find(({ what }) => what === 'image')).toMatchObject({
        state: 'ok',
        found: expect.stringMatching(/^mahabharatha-worker:/),
      });

      await project.graph('login', [
        { id: 'A', level: 1, create: ['a.txt'], run: 'echo a > a.txt', verify: 'test -s a.txt' },
        { id: 'B', level: 1, create: ['b.txt'], run: 'echo b > b.txt' },
        { id: 'C', level: 2, create: ['c.txt'], run: 'cat a.txt b.txt > c.txt' },
      ]);
      expect(inProject('kurukshetra', '--trust-config')).toContain('2 workers (container)');
      inProject('merge');
      expect(await project.read('c.txt')).toBe('a\nb\n');
      inProject('cleanup', '--yes');
      expect(project.leftovers()).toEqual([]);
    } finally {
      await project.remove();
    }
  });
});
