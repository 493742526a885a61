import { execFileSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
  await project.write('.gitignore', 'node_modules/\n.env\nsecrets/\n');
  await project.write('package-lock.json', '{ "version": 1 }\n');
  project.commit('a project that needs a set-up');
});
afterEach(() => project.remove());

const INTEGRATION = 'mahabharatha/login/integration';

const made = (): string[] => project.git('diff', '--name-only', 'main', INTEGRATION).trim().split('\n');
const noted = (name: string): Promise<string> => readFile(path.join(project.outside, name), 'utf8');

/** Like an installer: ignored files, files that no rule ignores, and a change to one that git knows. */
const SETUP =
  'echo "$MAHABHARATHA_WORKER $(cat package-lock.json)" >> "$OUTSIDE/setups"; mkdir -p node_modules tools/bin; ' +
  'cp package-lock.json node_modules/installed; echo tool > tools/bin/tool; echo changed >> README.md';

const failsOnce = (id: string): string => `if [ ! -e "$OUTSIDE/${id}" ]; then touch "$OUTSIDE/${id}"; exit 1; fi`;

const MADE_BY_SETUP = 'cmp -s package-lock.json node_modules/installed && test -s tools/bin/tool';

describe('workers.setup', () => {
  it('runs once per worktree before the first task, and again when a merge has changed a lock file', async () => {
    await project.config(`workers: { setup: '${SETUP}' }\n`);
    const meet = (id: string): string =>
      `touch "$OUTSIDE/${id}"; until [ "$(ls "$OUTSIDE" | grep -c ^L1-)" = 2 ]; do sleep 0.02; done; ${MADE_BY_SETUP}`;
    const both = `${MADE_BY_SETUP} && git diff --exit-code`;
    await project.graph('login', [
      { id: 'L1-a', level: 1, create: ['a.txt'], run: `${meet('L1-a')} && echo a > a.txt`, verify: MADE_BY_SETUP },
      { id: 'L1-b', level: 1, create: ['b.txt'], run: `${meet('L1-b')} && echo b > b.txt` },
      {
        id: 'L2',
        level: 2,
        modify: ['package-lock.json'],
        run: `${both} && echo '{ "version": 2 }' > package-lock.json`,
      },
      { id: 'L3', level: 3, create: ['c.txt'], run: `${both} && echo c > c.txt` },
      { id: 'L4', level: 4, create: ['d.txt'], run: `${both} && echo d > d.txt` },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(0);
    expect(run.stdout).not.toContain('attempt 2');
    const setups = (await noted('setups')).trim().split('\n');
    expect(setups.slice(0, 2).toSorted()).toEqual(['0 { "version": 1 }', '1 { "version": 1 }']);
    // The worker that goes on after the merge of the lock file installs again, once; so does the other when it gets work.
    const again = setups.slice(2);
    expect(again.length).toBeGreaterThan(0);
    expect(new Set(again).size).toBe(again.length);
    for (const line of again) expect(line).toMatch(/^[01] { "version": 2 }$/);
    expect(made()).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt', 'package-lock.json']);
    expect((await project.cli('logs', '--tail', 'all')).stdout).toContain('set-up: echo');
  });

  it('is shown while it runs', async () => {
    await project.config(
      `workers: { setup: 'echo "installing left-pad"; until [ -e "$OUTSIDE/go" ]; do sleep 0.02; done' }\n`,
    );
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: 'echo a > a.txt' }]);
    const run = project.start('kurukshetra');

    await waitFor('the set-up to be shown', () => run.output().includes('worker 0 is setting up its worktree'));
    expect((await project.cli('status')).stdout).toMatch(/0 {2}RUNNING +subprocess {2}T-1 {2}set-up/);
    await waitFor('its output', async () => (await project.cli('logs', '0')).stdout.includes('installing left-pad'));
    await writeFile(path.join(project.outside, 'go'), '');

    expect((await run.end).exit).toBe(0);
  });

  it('does not run again after a failed attempt, or for gates, while no task has touched what it made', async () => {
    const clean = `${MADE_BY_SETUP} && git diff --exit-code && test "$(ls -A node_modules)" = installed && test ! -e tools/mine`;
    await project.config(`workers: { setup: '${SETUP}' }\ngates: [{ name: clean, command: '${clean}' }]\n`);
    const junk = 'mkdir -p node_modules/.cache tools/mine; echo x > node_modules/.cache/x; echo x > tools/mine/x';
    await project.graph(
      'login',
      ['T-1', 'T-2', 'T-3'].map((id, index) => ({
        id,
        level: index + 1,
        create: [`${id}.txt`],
        run: `${clean.replaceAll("'", '')} || exit 3; ${junk}; ${failsOnce(id)}; echo 1 > ${id}.txt`,
      })),
    );

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.exit, run.stdout).toBe(0);
    const events = (await project.events()).map(({ type }) => type);
    expect(events.filter((type) => type === 'gates-passed')).toHaveLength(3);
    expect(events.filter((type) => type === 'attempt-failed')).toHaveLength(3);
    expect(await noted('setups')).toBe('0 { "version": 1 }\n');
    expect(made()).toEqual(['T-1.txt', 'T-2.txt', 'T-3.txt']);
  });

  it('is not fooled by a task that changes what it made: a gate finds that put back', async () => {
    const intact = 'test "$(cat tools/bin/tool)" = tool';
    await project.config(`workers: { setup: '${SETUP}' }\ngates: [{ name: intact, command: '${intact}' }]\n`);
    const forge = 'touch -r tools/bin/tool stamp; echo fake > tools/bin/tool; touch -r stamp tools/bin/tool; rm stamp';
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: `${intact} && ${forge}; echo a > a.txt` }]);

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.exit, run.stdout).toBe(0);
    expect(await noted('setups')).toBe('0 { "version": 1 }\n');
  });

  it('runs once for each worker of six tasks that fail first, where gates build again what it has built', async () => {
    const build = 'ls > node_modules/built';
    await project.write('notes.db', '');
    await project.config(
      `workers: { setup: '${SETUP}; ${build}', copy: ["notes.db"] }\n` +
        `gates: [{ name: build, command: '${MADE_BY_SETUP} && echo x >> notes.db && ${build}' }]\n`,
    );
    await project.graph(
      'login',
      [1, 2, 3, 4, 5, 6].map((number) => ({
        id: `T-${number}`,
        level: Math.ceil(number / 3),
        create: [`${number}.txt`],
        run: `echo x >> notes.db; ${build}; ${failsOnce(`T-${number}`)}; echo ${number} > ${number}.txt`,
      })),
    );

    const run = await project.cli('kurukshetra', '--workers', '3');

    expect(run.exit, run.stdout).toBe(0);
    const types = (await project.events()).map(({ type }) => type);
    expect(types.filter((type) => type === 'attempt-failed')).toHaveLength(6);
    expect(types.filter((type) => type === 'gates-passed')).toHaveLength(2);
    const setups = (await noted('setups')).trim().split('\n');
    expect(setups.length, 'one for each worker').toBe(new Set(setups).size);
  });

  it('runs again after a failed attempt that was removed with what it made', async () => {
    await project.config(
      `workers: { setup: '${SETUP}' }\ngates: [{ name: tools, command: '${MADE_BY_SETUP} && git diff --exit-code' }]\n`,
    );
    const once = 'if [ ! -e "$OUTSIDE/once" ]; then touch "$OUTSIDE/once"; rm -rf node_modules tools; exit 1; fi';
    await project.graph('login', [
      { id: 'T-1', create: ['a.txt'], run: `${once}; ${MADE_BY_SETUP} && echo a > a.txt` },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.exit).toBe(0);
    expect((await project.state()).tasks['T-1']?.attempts).toHaveLength(2);
    expect(made()).toEqual(['a.txt']);
  });

  it('that fails stops the run with its output: exit 1; once it is fixed, resume goes on', async () => {
    await project.config(`workers: { setup: 'echo "E404 no such package"; exit 5' }\n`);
    await project.graph('login', [
      { id: 'T-1', create: ['a.txt'], run: 'echo a > a.txt' },
      { id: 'T-2', create: ['b.txt'], run: 'echo b > b.txt' },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(1);
    expect(run.stdout).toMatch(
      /failed — worker \d: the set-up "echo .*" failed: exit status 5\n +│ E404 no such package/,
    );
    expect(run.stdout.match(/│ E404/g)).toHaveLength(1);
    expect((await project.cli('status')).stdout).toContain('E404 no such package');
    expect(await project.processes()).toEqual([]);
    expect(Object.values((await project.state()).tasks).map(({ status }) => status)).toEqual(['pending', 'pending']);
    await project.config('workers: { setup: "true" }\n');
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    const { tasks } = await project.state();
    expect(Object.values(tasks).map(({ status, failures, losses }) => [status, failures, losses])).toEqual([
      ['complete', 0, 0],
      ['complete', 0, 0],
    ]);
  });

  it('that takes too long is ended with all it started', async () => {
    await project.config(`workers: { setup: '(setsid sleep 600 &); sleep 600', setup_timeout: 500ms }\n`);
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: 'echo a > a.txt' }]);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(1);
    expect(run.stdout).toContain('still running after 0.5 s, limit 0.5 s');
    expect(await project.processes()).toEqual([]);
  });

  it('that makes a folder does not hide what a task declares in it; other files there are not committed', async () => {
    await project.config("workers: { setup: 'mkdir -p gen lib && touch gen/.stamp lib/.stamp' }\n");
    await project.graph('login', [
      {
        id: 'T-1',
        create: ['a.txt', 'gen/out.txt', 'lib/**'],
        run: 'echo a > a.txt; echo out > gen/out.txt; echo b > lib/b.txt; echo junk > gen/junk',
        verify: 'test -s gen/out.txt',
      },
      { id: 'T-2', level: 2, modify: ['gen/out.txt'], run: 'test -e gen/.stamp && echo more >> gen/out.txt' },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.exit).toBe(0);
    expect(made()).toEqual(['a.txt', 'gen/out.txt', 'lib/b.txt']);
    expect(project.git('show', `${INTEGRATION}:gen/out.txt`)).toBe('out\nmore\n');
  });
});

const slowReset = (git: string, notes: string): string =>
  `#!/bin/bash\ncase " $* " in *" reset "*) echo begins >> "${notes}"; sleep 0.5; "${git}" "$@"; end=$?; echo ends >> "${notes}"; exit $end;; esac\nexec "${git}" "$@"\n`;

describe('a worker that ends', () => {
  it('lets its own git end first: nothing is killed in the middle of it', async () => {
    const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const bin = path.join(project.outside, 'bin');
    await project.write('../outside/bin/git', slowReset(git, path.join(project.outside, 'notes')));
    await chmod(path.join(bin, 'git'), 0o755);
    project.env['PATH'] = `${bin}:${project.env['PATH']}`;
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: 'echo a > a.txt' }]);

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.exit).toBe(0);
    const lines = (await noted('notes')).trim().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(2);
    expect(lines.filter((line) => line === 'ends')).toHaveLength(lines.length / 2);
  });
});

describe('workers.copy', () => {
  it('brings ignored files to every worktree and to the gates; they are committed nowhere', async () => {
    const there = 'grep -q s3cret .env && test -s secrets/deep/key && test -x secrets/tool && test ! -e secrets/no';
    await project.write('.env', 's3cret\n');
    await project.write('secrets/deep/key', 'key\n');
    await project.write('secrets/tool', '#!/bin/sh\n');
    await project.write('local.cfg', 'git knows nothing of it, and no rule ignores it\n');
    await chmod(path.join(project.folder, 'secrets', 'tool'), 0o755);
    await project.config(
      `workers: { copy: [".env", "secrets/**", "local.cfg"] }\ngates: [{ name: env, command: '${there} && test -s local.cfg' }]\n`,
    );
    // The first spoils its copy; who comes next has a fresh one.
    await project.graph('login', [
      { id: 'T-1', create: ['a.txt'], run: `${there} && echo spoilt > .env && echo a > a.txt` },
      { id: 'T-2', level: 2, create: ['b.txt'], run: `${there} && test -s local.cfg && echo b > b.txt`, verify: there },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.exit).toBe(0);
    expect(made()).toEqual(['a.txt', 'b.txt']);
    expect(await project.read('.env')).toBe('s3cret\n');
  });
});
