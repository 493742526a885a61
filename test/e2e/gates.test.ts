import { execFileSync } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject } from '../support/project.ts';
import type { TestProject, TestTask } from '../support/project.ts';
import { promptsOf, scriptedAgent } from '../support/scripted-agent.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const INTEGRATION = 'mahabharatha/login/integration';

const made = (): string[] => project.git('diff', '--name-only', 'main', INTEGRATION).trim().split('\n');
const noted = (name: string): Promise<string> => readFile(path.join(project.outside, name), 'utf8');

interface Gate {
  readonly name: string;
  readonly command: string;
  readonly required?: boolean;
  readonly timeout?: string;
}

const gates = (...all: readonly Gate[]): string => `gates: ${JSON.stringify(all)}\n`;

const writes = (id: string, text = id, rest: Partial<TestTask> = {}): TestTask => ({
  id,
  create: [`${id}.txt`],
  run: `echo ${text} > ${id}.txt`,
  ...rest,
});

/** The others wait for C, so that it is merged first: then all that came after it has to be merged anew. */
const AFTER_C = 'until [ -e "$OUTSIDE/prompt-C-1" ]; do sleep 0.02; done; sleep 0.3;';

/** Red as long as a file has a bug in it, and says which. */
const NO_BUGS: Gate = { name: 'no bugs', command: 'if grep -l BUG *.txt; then echo "these have bugs"; exit 1; fi' };

async function outcomes(): Promise<Record<string, (string | null)[]>> {
  const { tasks } = await project.state();
  return Object.fromEntries(
    Object.entries(tasks).map(([id, { attempts }]) => [id, attempts.map(({ outcome }) => outcome)]),
  );
}

/** Leaves ignored build output behind, and writes down what it found. */
const messy = (id: string, level: number): TestTask => ({
  id,
  level,
  create: [`${id}.txt`],
  run: `mkdir -p build; echo 1 > build/out; echo 1 > x.log; ls -A | tr "\\n" " " > "$OUTSIDE/when-${id}"; echo ${id} > ${id}.txt`,
});

describe('gates', () => {
  it('see the merged tree of all tasks, clean of what tasks left there, after each level and before the next', async () => {
    await project.write('.gitignore', 'build/\n*.log\n');
    project.commit('ignore build output');
    const look: Gate = {
      name: 'look',
      command: 'ls -A | tr "\\n" " " >> "$OUTSIDE/seen"; echo >> "$OUTSIDE/seen"; mkdir build',
    };
    await project.config(
      gates({ name: 'first', command: 'test ! -e build' }, look, { name: 'last', command: 'test -d build' }),
    );
    await project.graph('login', [messy('A', 1), messy('B', 1), messy('C', 2)]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(0);
    expect(await noted('seen')).toBe(
      '.git .gitignore A.txt B.txt README.md \n.git .gitignore A.txt B.txt C.txt README.md \n',
    );
    expect(await noted('when-C')).toContain('A.txt B.txt');
    const { levels } = await project.state();
    expect(levels['1']?.gates.map(({ name, ok }) => [name, ok])).toEqual([
      ['first', true],
      ['look', true],
      ['last', true],
    ]);
    expect(levels['2']).toMatchObject({ status: 'complete', gateRuns: 1 });
    expect((await project.cli('logs', '--task', 'gate:look')).stdout).toContain('gate look: green');
  });

  it('run a second time: one that is red once and then green is a flake, and no task is charged', async () => {
    await project.config(
      gates({ name: 'flaky', command: 'if [ ! -e "$OUTSIDE/once" ]; then touch "$OUTSIDE/once"; exit 1; fi' }),
    );
    await project.graph('login', [writes('A'), writes('B')]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(
      /gates red: [^]*red once: a second look tells a flake from a failure[^]*gates green: flaky/,
    );
    expect(await outcomes()).toEqual({ A: ['accepted'], B: ['accepted'] });
  });

  it('find the culprit among several tasks, publish the others and send it back with the log, on top of their work', async () => {
    await project.config(
      `${gates(NO_BUGS)}${await scriptedAgent(project, {
        C: ['echo BUG > C.txt', 'ls *.txt > "$OUTSIDE/seen"; echo mended > C.txt'],
      })}`,
    );
    await project.graph('login', [
      writes('A', 'A', { run: `${AFTER_C} echo A > A.txt` }),
      writes('B', 'B', { run: `${AFTER_C} echo B > B.txt` }),
      { id: 'C', create: ['C.txt'] },
      writes('D', 'D', { run: `${AFTER_C} echo D > D.txt` }),
      { id: 'E', level: 2, dependencies: ['C'], create: ['E.txt'], run: 'cat C.txt > E.txt' },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '4');

    expect(run.exit).toBe(0);
    expect(await outcomes()).toEqual({
      A: ['accepted'],
      B: ['accepted'],
      C: ['gate-failed', 'accepted'],
      D: ['accepted'],
      E: ['accepted'],
    });
    const [, second] = await promptsOf(project, 'C');
    expect(second).toMatch(/on the merged tree:\ngate no bugs failed: exit status 1\nC\.txt\nthese have bugs/);
    expect(await noted('seen')).toBe('A.txt\nB.txt\nD.txt\n');
    expect(project.git('show', `${INTEGRATION}:E.txt`)).toBe('mended\n');
    // The lines of a gate name no task.
    expect((await project.cli('logs', '--task', 'C')).stdout).toMatch(
      /C attempt 1 failed \(gate-failed\): .*\n(?: {11}│ .*\n)* {11}│ gate no bugs failed: exit status 1\n {11}│ C\.txt\n {11}│ these have bugs\n/,
    );
    expect((await project.cli('logs', '--task', 'D')).stdout).not.toContain('these have bugs');
  });

  it('find two culprits; tasks that stay culprits fail, and all other work is in the integration branch', async () => {
    await project.config(`retry: { attempts: 2 }\n${gates(NO_BUGS)}`);
    await project.graph('login', [
      writes('A', 'BUG'),
      writes('B'),
      writes('C', 'BUG'),
      writes('D'),
      writes('E', 'fine', { level: 2, dependencies: ['D'] }),
      writes('F', 'never', { level: 2, dependencies: ['A'] }),
    ]);

    const run = await project.cli('kurukshetra', '--workers', '4');

    expect(run.exit).toBe(1);
    const { tasks, levels } = await project.state();
    expect(Object.entries(tasks).map(([id, { status }]) => `${id} ${status}`)).toEqual([
      'A failed',
      'B complete',
      'C failed',
      'D complete',
      'E complete',
      'F blocked',
    ]);
    expect(tasks['A']?.cause).toMatch(/failed 2 of 2 times; last: the gates of level 1 are red with its work/);
    expect(levels['1']?.status).toBe('failed');
    expect(made()).toEqual(['B.txt', 'D.txt', 'E.txt']);
    // Half a feature is not merged unasked.
    expect((await project.cli('merge')).exit).toBe(1);
    expect((await project.cli('merge', '--partial')).exit).toBe(0);
  });

  it('that are red without any work say so, and charge no task', async () => {
    await project.config(gates({ name: 'broken', command: 'echo "no compiler here" >&2; exit 9' }));
    await project.graph('login', [writes('A'), writes('B')]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(1);
    expect(run.stdout).toMatch(
      /red already without any task's work: mend the base or the gates first\. gate broken failed: exit status 9/,
    );
    expect(run.stdout).toContain('no compiler here');
    expect(await outcomes()).toEqual({ A: ['accepted'], B: ['accepted'] });
    expect(made()).toEqual(['']);

    // A mended gate is enough to go on.
    await project.config(gates({ name: 'broken', command: 'true' }));
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    expect(await outcomes()).toEqual({ A: ['accepted'], B: ['accepted'] });
    expect(made()).toEqual(['A.txt', 'B.txt']);
  });

  it('that turn red on published work as well say so, and charge no task of the next level', async () => {
    // Something outside the repository breaks after the first level.
    const breaks = 'if [ -e "$OUTSIDE/once" ]; then echo "no compiler here"; exit 9; fi; touch "$OUTSIDE/once"';
    await project.config(gates({ name: 'breaks', command: breaks }));
    await project.graph('login', [writes('A'), writes('B', 'B', { level: 2 }), writes('C', 'C', { level: 2 })]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(1);
    expect(run.stdout).toMatch(
      /red already on what is published, without the work of level 2: .* gate breaks failed: exit status 9/,
    );
    const accepted = { A: ['accepted'], B: ['accepted'], C: ['accepted'] };
    expect(await outcomes()).toEqual(accepted);
    expect(made()).toEqual(['A.txt']);

    await project.config(gates({ name: 'breaks', command: 'true' }));
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    expect(await outcomes()).toEqual(accepted);
    expect(made()).toEqual(['A.txt', 'B.txt', 'C.txt']);
  });

  it('whose set-up fails with the merged work are red by that: its task is found, and the others are published', async () => {
    for (const lock of ['package-lock.json', 'yarn.lock']) await project.write(lock, '1\n');
    project.commit('lock files');
    // Either change is good alone, so the later one is the culprit.
    const setup = 'if grep -q 2 package-lock.json && grep -q 2 yarn.lock; then echo not in sync; exit 9; fi';
    await project.config(`retry: { attempts: 1 }\nworkers: { setup: ${JSON.stringify(setup)} }\n${gates(NO_BUGS)}`);
    await project.graph('login', [
      { id: 'A', modify: ['package-lock.json'], run: 'echo 2 > package-lock.json' },
      { id: 'B', modify: ['yarn.lock'], run: 'echo 2 > yarn.lock' },
      writes('C'),
    ]);

    const run = await project.cli('kurukshetra', '--workers', '3');

    expect(run.exit, run.stdout).toBe(1);
    expect(run.stdout).toContain('run failed: 2 of 3 tasks are done, 1 failed');
    const { tasks } = await project.state();
    expect(tasks['C']?.status).toBe('complete');
    const culprit = ['A', 'B'].map((id) => tasks[id]).find((task) => task?.status === 'failed');
    expect(culprit?.attempts[0]).toMatchObject({ outcome: 'gate-failed' });
    expect(culprit?.feedback).toMatch(/on the merged tree:\nthe set-up ".*" failed: exit status 9\nnot in sync/);
    expect(made()).toContain('C.txt');
    expect(await project.processes()).toEqual([]);
  });

  it('that are not required only warn, and those after them run all the same', async () => {
    await project.config(
      gates(
        { name: 'style', command: 'exit 1', required: false },
        { name: 'after', command: 'touch "$OUTSIDE/after"' },
      ),
    );
    await project.graph('login', [writes('A')]);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(0);
    expect(run.stdout).toContain('gate style (not required) is red after level 1: exit status 1');
    expect((await project.cli('status')).stdout).toContain('gates red: style');
    expect(await noted('after')).toBe('');
  });

  it('that take too long are red, and everything they started is ended', async () => {
    await project.config(
      `retry: { attempts: 1 }\n${gates({
        name: 'slow',
        // Enough for the base, which the gate is asked about as well.
        timeout: '5s',
        command: 'if [ -e A.txt ]; then (setsid sleep 600 &) ; sleep 600; fi',
      })}`,
    );
    await project.graph('login', [writes('A')]);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(1);
    expect((await project.state()).tasks['A']?.cause).toContain('gate slow failed: still running after 5 s, limit 5 s');
    expect(await project.processes()).toEqual([]);
  });

  it('in a worktree that git could not prepare are run again, and are not red', async () => {
    const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const bin = path.join(project.outside, 'bin');
    // The worker repairs the worktree and tries it a second time.
    const fails = `mkdir '${bin}/once' 2> /dev/null || mkdir '${bin}/twice' 2> /dev/null`;
    const script = `#!/bin/bash\ncase "$*" in *"clean --quiet -ffd -x"*) if ${fails}; then echo "fatal: broken" >&2; exit 128; fi ;; esac\nexec '${git}' "$@"\n`;
    await project.write('../outside/bin/git', script);
    await chmod(path.join(bin, 'git'), 0o755);
    project.env['PATH'] = `${bin}:${project.env['PATH']}`;
    await project.config(gates({ name: 'there', command: 'test -e A.txt' }));
    await project.graph('login', [writes('A')]);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/gates broken off: worker 0 could not run them: .*fatal: broken/);
    expect(run.stdout).not.toContain('gates red');
    expect(await outcomes()).toEqual({ A: ['accepted'] });
  });
});
