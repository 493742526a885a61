import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atTerminal, whyNoTerminal } from '../support/at-terminal.ts';
import { createProject, simpleTask as task, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const inState = (...parts: string[]): string => path.join(project.folder, '.mahabharatha', 'state', ...parts);

/**
 * Runs a command that reads the state once, holds it there while `meanwhile` works, and lets it go on with what the
 * state was before: the first read is one of a pipe, all later ones find the file that `meanwhile` returns the text of.
 */
async function changedMeanwhile(args: readonly string[], meanwhile: (before: string) => string): Promise<string> {
  const file = inState('login.json');
  const before = await readFile(file, 'utf8');
  await rm(file);
  execFileSync('bash', ['-c', 'mkfifo "$0"', file]);
  const command = project.start(...args);
  const pipe = await open(file, 'w');
  await writeFile(`${file}.new`, meanwhile(before));
  await rename(`${file}.new`, file);
  await pipe.writeFile(before);
  await pipe.close();
  const { exit, stdout, stderr } = await command.end;
  return `${exit}\n${stdout}${stderr}`;
}

function allComplete(before: string): string {
  const state = JSON.parse(before) as { tasks: Record<string, { status: string }> };
  for (const task of Object.values(state.tasks)) task.status = 'complete';
  return JSON.stringify(state);
}

describe('a run on another host', () => {
  it('is never signalled nor disturbed: the error names the host, the process and the lock', async () => {
    await project.graph('login', [task('A', { run: 'exit 1' })]);
    await project.config('retry: { attempts: 1 }\n');
    await project.cli('kurukshetra');
    // On this host the number belongs to another process.
    const bystander = spawn('sleep', ['600']);
    const holder = { pid: bystander.pid, started: 'x', host: 'build-7.example.org', since: '2026-11-18T08:00:00.000Z' };
    await writeFile(inState('login', 'lock.json'), JSON.stringify({ ...holder, token: 'theirs' }));

    const commands = ['stop', 'retry', 'cleanup --yes', 'merge --partial', 'kurukshetra --resume'];
    for (const command of commands) {
      const result = await project.cli(...command.split(' '));
      expect([command, result.exit]).toEqual([command, 4]);
      for (const words of ['build-7.example.org', String(bystander.pid), inState('login', 'lock.json')])
        expect(result.stderr).toContain(words);
    }
    expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
    bystander.kill('SIGKILL');
    await rm(inState('login', 'lock.json'));
    expect((await project.cli('stop')).exit).toBe(0);
  });
});

describe('retry', () => {
  beforeEach(async () => {
    await project.graph('login', [
      task('A', { run: 'exit 1' }),
      task('B', { dependencies: ['A'] }),
      task('C', { dependencies: ['B'] }),
    ]);
    await project.config('retry: { attempts: 1 }\n');
    await project.cli('kurukshetra');
  });

  it('of a blocked task says which failed one it waits for', async () => {
    const { exit, stderr } = await project.cli('retry', 'C');
    expect(exit).toBe(2);
    expect(stderr).toBe(
      'error: Task C is blocked: it waits for A, which failed.\n\n' +
        'New tries for that one bring this one along: mahabharatha retry A --feature login\n',
    );
  });

  it('of an ended run reads the state again under the lock, and undoes no change made until then', async () => {
    expect(await changedMeanwhile(['retry', 'A'], allComplete)).toContain('2\nerror: Task A is complete');
    expect((await project.state()).tasks).toMatchObject({ A: { status: 'complete' }, C: { status: 'complete' } });
  });

  it('that a run was asked for at its very end is done by the next resume, which does not say that it does nothing', async () => {
    await mkdir(inState('login', 'requests'), { recursive: true });
    await writeFile(inState('login', 'requests', 'late.json'), JSON.stringify({ kind: 'retry', task: 'A' }));
    const { stdout, stderr } = await project.cli('kurukshetra', '--resume');
    expect(stdout + stderr).not.toContain('nothing will be done');
    const begun = (await project.events()).filter(({ type }) => type === 'attempt-started');
    expect(begun).toHaveLength(2);
  });
});

describe('cleanup', () => {
  it.skipIf(whyNoTerminal !== '')(
    `removes nothing when something has changed since it was listed${whyNoTerminal}`,
    async () => {
      await project.graph('login', [task('A')]);
      await project.cli('kurukshetra');
      const clean = atTerminal(project, ['cleanup']);
      await waitFor('the question', () => clean.output().includes('[y/N]'));
      const integration = 'mahabharatha/login/integration';
      const work = project.git('commit-tree', '-p', integration, '-m', 'more', `${integration}^{tree}`).trim();
      project.git('update-ref', `refs/heads/${integration}`, work);
      clean.type('y\n');
      expect([await clean.end, clean.output()]).toEqual([
        2,
        expect.stringMatching(/Nothing was removed: [^]*has changed/),
      ]);
      expect(project.git('rev-parse', integration).trim()).toBe(work);
      expect((await project.cli('status')).exit).toBe(0);
      expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
    },
  );

  it('of a run of another working tree is refused, names that tree, and disturbs nothing of the run', async () => {
    const command = 'touch $OUTSIDE/begun; until [ -e $OUTSIDE/go ]; do sleep 0.05; done; echo A > A.txt';
    await project.graph('login', [task('A', { run: command })]);
    project.commit('specs');
    const folder = path.join(path.dirname(project.folder), 'second');
    project.git('worktree', 'add', '--quiet', '-b', 'second', folder);
    const second = project.at(folder);
    const run = project.start('kurukshetra');
    await waitFor('its task is at work', () => existsSync(path.join(project.outside, 'begun')));
    const refs = project.git('for-each-ref');
    const inGit = (...parts: string[]): string => path.join(project.folder, '.git', ...parts);
    // What a live run has for a moment, while it looks into a bundle and moves a ref.
    const examined = inGit('objects', 'tmp_objdir-mahabharatha~login~0123456789abcdef');
    const lock = inGit('refs', 'heads', 'mahabharatha', 'login', 'integration.lock');
    await mkdir(examined);
    await writeFile(lock, '');

    for (const args of [['--yes'], ['--dry-run']]) {
      const clean = await second.cli('cleanup', ...args);
      expect(clean.exit).toBe(2);
      expect(clean.stderr).toContain(`belongs to another working tree of this repository: ${project.folder}.`);
      expect(clean.stdout).toBe('');
    }
    const all = await second.cli('cleanup', '--all', '--yes');
    expect([all.exit, all.stdout, all.stderr]).toEqual([0, 'There is nothing to clean up.\n', '']);
    expect([examined, lock].map((file) => existsSync(file))).toEqual([true, true]);
    await rm(lock);
    expect(project.git('for-each-ref')).toBe(refs);
    await writeFile(path.join(project.outside, 'go'), '');
    expect((await run.end).exit).toBe(0);
    expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
  });
});

describe('output', () => {
  it('into a pipe is complete, also a long one with a slow reader', async () => {
    await project.graph('login', [task('A')]);
    await project.cli('kurukshetra');
    const state = { ...(await project.state()), warnings: Array.from({ length: 20_000 }, (_, n) => `warning ${n} …`) };
    await writeFile(inState('login.json'), JSON.stringify(state));
    const status = project.start('status', '--json');
    status.child.stdout?.pause();
    // Who does not wait for its reader is gone within this time; who does goes on as soon as it reads.
    await Promise.race([
      new Promise((resolve) => status.child.once('exit', resolve)),
      new Promise((resolve) => setTimeout(resolve, 2000)),
    ]);
    status.child.stdout?.resume();
    const { exit, stdout } = await status.end;
    expect(exit).toBe(0);
    expect((JSON.parse(stdout) as { warnings: string[] }).warnings).toHaveLength(20_000);
  });

  it('whose reader is gone does not keep the program alive', async () => {
    await project.graph('login', [task('A')]);
    const status = project.start('kurukshetra', '--json');
    status.child.stdout?.destroy();
    expect((await status.end).exit).toBe(0);
  });
});
