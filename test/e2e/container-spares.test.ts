import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventsSoFar, sees } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject, Inspected } from '../support/container-project.ts';
import type { TestTask } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const docked = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' });

/** What a task finds where an earlier one could have left something; then it leaves something there itself. */
const LOOK = 'ls -A ~ /tmp; git status --short --ignored; ls /workspace';
const LEAVE = 'touch ~/left /tmp/left ignored.log; (sleep 1000 &)';

const task = (id: string, more: Partial<TestTask> = {}): TestTask => ({
  id,
  create: [`${id}.txt`],
  run: `{ ${LOOK}; ps -e -o comm= | grep -c sleep; } > ../tmp/look; ${LEAVE}; sleep 1; cp /tmp/look ${id}.txt`,
  ...more,
});

const copyMade = (id: string): Partial<TestTask> => ({ run: `sleep 1; cp made.log ${id}.txt` });

describe.skipIf(docker.why !== '')(`workers that wait before they are needed${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  const starts = (): { cause: string }[] =>
    eventsSoFar(project).flatMap((event) => (event.type === 'worker-starting' ? [event] : []));
  const warm = (): number => starts().filter(({ cause }) => cause.includes('a spare waits')).length;
  const spares = (): Inspected[] => project.spares();

  it('serve tasks of two levels, verifications and gates, and have seen nothing of any other', async () => {
    project = await createContainerProject();
    await project.config(
      `${await project.read('.mahabharatha/config.yaml')}gates: [{ name: files, command: "test -s A.txt" }]\n`,
    );
    await project.write('.gitignore', '*.log\n');
    project.git('add', '.gitignore');
    project.git('commit', '-m', 'ignore');
    const second = { level: 2, run: 'sleep 1; cat A.txt B.txt > D.txt' };
    await project.graph('login', [
      task('A', { verify: 'sleep 1; test -s A.txt' }),
      task('B'),
      task('C'),
      task('D', second),
    ]);
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, `${stdout}\n${stderr}`).toBe(0);
    expect(starts()).toHaveLength(7);
    expect(warm(), 'all but the first').toBe(6);
    const seen = ['A', 'B', 'C'].map((id) => project.git('show', `mahabharatha/login/integration:${id}.txt`));
    for (const one of seen) expect(one).not.toMatch(/left|ignored|\.txt/);
    for (const one of seen) expect(one.trimEnd()).toMatch(/\n0$/);
    const [a = '', b = ''] = seen;
    expect(project.git('show', 'mahabharatha/login/integration:D.txt')).toBe(`${a}${b}`);
  });

  it('begin with the snapshot of the worker before, and run the set-up no more than that', async () => {
    project = await createContainerProject({ workers: 'setup: "echo made > made.log; date +%N >> made.log"' });
    await project.write('.gitignore', '*.log\n');
    project.git('add', '.gitignore');
    project.git('commit', '-m', 'ignore');
    await project.graph('login', [
      task('A', copyMade('A')),
      task('B', copyMade('B')),
      task('C', { level: 2, ...copyMade('C') }),
    ]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout).toBe(0);
    expect(warm()).toBe(2);
    const made = ['A', 'B', 'C'].map((id) => project.git('show', `mahabharatha/login/integration:${id}.txt`));
    expect(made[0]).toMatch(/^made\n\d+\n$/);
    expect(new Set(made).size, 'the set-up ran once').toBe(1);
  });

  it('show no secret, have none, and nobody has run in them', async () => {
    project = await createContainerProject({ container: 'network: none\nenv: [MY_SECRET]' });
    project.env['MY_SECRET'] = 'a-secret-of-the-user';
    const wait = 'while ! test -f /run/mahabharatha/shared/go; do sleep 0.1; done; echo "$MY_SECRET" | wc -c';
    await project.graph('login', [task('A', { run: `${wait} > A.txt` }), task('B', { run: `${wait} > B.txt` })]);
    const live = project.start('kurukshetra', '--workers', '1');
    await sees(live, () => spares().some(({ State }) => State.Running));
    const [spare] = spares();
    const id = spare?.Id ?? '';
    expect(docked('inspect', id)).not.toContain('a-secret-of-the-user');
    const said = docked(
      'exec',
      id,
      'bash',
      '-c',
      'cat /proc/[0-9]*/environ /run/mahabharatha/inbox/*; ls -A ~ /run/mahabharatha/outbox',
    );
    expect(said).not.toContain('a-secret-of-the-user');
    expect(said).not.toContain('status.json');
    await project.write(path.relative(project.folder, project.inWorkers('login', 'shared', 'go')), '');
    expect((await live.end).exit).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:B.txt').trim()).toBe('21');
    expect(starts().at(-1)?.cause).toContain('a spare waits');
  });

  it('that are killed while they wait cost a cold start and nothing else', async () => {
    project = await createContainerProject();
    const wait = 'while ! test -f /run/mahabharatha/shared/go; do sleep 0.1; done';
    await project.graph(
      'login',
      ['A', 'B', 'C'].map((id) => task(id, { run: `${wait}; echo ${id} > ${id}.txt` })),
    );
    const live = project.start('kurukshetra', '--workers', '1');
    const killed = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const next = (): Inspected | undefined => spares().find(({ Id, State }) => State.Running && !killed.has(Id));
      await sees(live, () => next() !== undefined);
      const id = next()?.Id ?? '';
      killed.add(id);
      docked('kill', id);
    }
    await project.write(path.relative(project.folder, project.inWorkers('login', 'shared', 'go')), '');
    const { exit, stdout } = await live.end;
    expect(exit, stdout).toBe(0);
    expect(warm(), 'after three that died no more are made').toBe(0);
    const { tasks } = await project.state();
    expect(Object.values(tasks).map(({ failures, losses }) => [failures, losses])).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  it('go when the run is stopped, and when their orchestrator is killed; a resumed one makes its own', async () => {
    project = await createContainerProject({ workers: 'lease: 3s' });
    await project.graph(
      'login',
      ['A', 'B', 'C'].map((id) => task(id, { run: `sleep 3; echo ${id} > ${id}.txt` })),
    );
    const first = project.start('kurukshetra', '--workers', '1');
    await sees(first, () => spares().some(({ State }) => State.Running));
    process.kill(first.pid, 'SIGKILL');
    await first.end;
    await sees({ ...first, end: new Promise<never>(() => undefined) }, () => spares().length === 0);
    const second = project.start('kurukshetra', '--workers', '1', '--resume');
    await sees(second, () => spares().some(({ State }) => State.Running));
    process.kill(second.pid, 'SIGINT');
    await second.end;
    expect(project.leftovers()).toEqual([]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1', '--resume');
    expect(exit, stdout).toBe(0);
    expect(warm()).toBeGreaterThan(0);
    expect(existsSync(path.dirname(project.inWorkers('login', 'shared')))).toBe(false);
  });
});
