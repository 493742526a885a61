import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atTerminal, whyNoTerminal } from '../support/at-terminal.ts';
import type { AtTerminal } from '../support/at-terminal.ts';
import { createProject, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { WAITING, waitingClaude } from '../support/waiting-claude.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject({ env: { TERM: 'xterm', IS_SANDBOX: '1' } });
  await project.graph('login', [
    {
      id: 'A',
      create: ['a.txt'],
      run: 'touch "$OUTSIDE/begun"; until [ -e "$OUTSIDE/go" ]; do sleep 0.02; done; echo 1 > a.txt',
    },
    { id: 'B', level: 2, create: ['b.txt'], run: 'echo 1 > b.txt' },
  ]);
});
afterEach(() => project.remove());

/** The tree as it was drawn last, and what came after it, without colours. */
function lastFrame(run: AtTerminal): string {
  const plain = stripVTControlCharacters(run.output()).replaceAll('\r', '');
  return plain.slice(Math.max(0, ...[...plain.matchAll(/^.*Level 1: /gm)].map(({ index }) => index)));
}

const go = (): Promise<void> => writeFile(path.join(project.outside, 'go'), '');
// oxlint-disable-next-line no-control-regex -- colours are control characters
const COLOR = /\u001B\[(3[0-9]|9[0-7]|1|2)m/;

describe.skipIf(whyNoTerminal !== '')(`at a terminal${whyNoTerminal}`, () => {
  it('a run is a live tree of levels and tasks, and ends with the same summary as in a log', async () => {
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess']);
    await waitFor('the first level to be drawn', () => /Level 1: 1 task/.test(run.output()));
    await go();

    expect(await run.end).toBe(0);
    for (const words of [
      'A  Task A',
      'Level 2: 1 task',
      'Feature login: complete',
      'mahabharatha merge --feature login',
    ]) {
      expect(run.output()).toContain(words);
    }
    expect(run.output()).toMatch(COLOR);
  });

  it('a run of more tasks than the screen has rows is printed line by line', async () => {
    const ids = Array.from({ length: 45 }, (_, index) => `T${index}`);
    await project.graph(
      'login',
      ids.map((id) => ({ id, create: [`${id}.txt`], run: `echo 1 > ${id}.txt` })),
    );
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess']);
    expect(await run.end).toBe(0);
    expect(run.output()).toMatch(/^\d\d:\d\d:\d\d .*T44/m);
    expect(run.output()).not.toContain('Level 1: 45 tasks');
  });

  it('a task shows that its agent cannot reach the model, as long as that is so', async () => {
    await project.config(await waitingClaude(project));
    await project.graph('login', [{ id: 'T-1', create: ['T-1.txt'] }]);
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess', '--trust-config']);
    await waitFor('the trouble to be drawn', () => run.output().includes(`T-1 waits, says worker 0: ${WAITING}`));
    await go();
    await waitFor('its end to be drawn', () => run.output().includes('T-1 goes on, says worker 0: the model answers'));
    await writeFile(path.join(project.outside, 'end'), '');
    expect(await run.end).toBe(0);
  });

  it('a run is printed line by line where the terminal says that it has no width', async () => {
    await go();
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess'], { columns: 0 });
    expect(await run.end).toBe(0);
    expect(run.output()).toContain('level 1 starts: 1 task');
    expect(run.output()).toContain('A done: ');
  });

  it('has no colours when NO_COLOR is set', async () => {
    await go();
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess'], { env: { NO_COLOR: '1' } });
    expect(await run.end).toBe(0);
    expect(run.output()).toContain('Feature login: complete');
    expect(run.output()).not.toMatch(COLOR);
    const status = atTerminal(project, ['status'], { env: { NO_COLOR: '1' } });
    expect(await status.end).toBe(0);
    expect(status.output()).not.toMatch(COLOR);
  });

  it('Ctrl-C stops a run in order: exit 130, nothing left, and it can be resumed', async () => {
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess']);
    await waitFor('the task to begin', async () => (await project.processes().catch(() => [])).length > 1);
    run.type('\u0003');

    expect(await run.end).toBe(130);
    expect(run.output()).toContain('interrupted (SIGINT)');
    expect(await project.processes()).toEqual([]);
    await go();
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
  });

  it('after Ctrl-C every row has its name and says how far it came, and waiting rows are not animated', async () => {
    await project.graph('login', [
      { id: 'A', create: ['a.txt'], run: 'echo 1 > a.txt' },
      { id: 'B', create: ['b.txt'], run: 'echo 1 > b.txt; touch "$OUTSIDE/begun"; sleep 600' },
      { id: 'C', create: ['c.txt'], run: 'echo 1 > c.txt' },
      { id: 'D', level: 2, create: ['d.txt'], run: 'echo 1 > d.txt' },
    ]);
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess', '--workers', '1']);
    await waitFor('A to be done and B to be at work', () =>
      /A  Task A — done[^]*B → worker 0[^]*Level 2.*\n/.test(lastFrame(run)),
    );
    const before = lastFrame(run);
    expect(before).toMatch(/^.*[\u2800-\u28FF] B  Task B$/m);
    expect(before).toMatch(/^[^\u2800-\u28FF]* C  Task C$/m);
    expect(before).toMatch(/^[^\u2800-\u28FF]* Level 2: 1 task$/m);
    await waitFor('B to have written', () => existsSync(path.join(project.outside, 'begun')));
    run.type('\u0003');

    expect(await run.end).toBe(130);
    expect(lastFrame(run)).toMatch(
      new RegExp(
        [
          'Level 1: 3 tasks — stopped',
          'A  Task A — done',
          'B  Task B — stopped; its work so far is kept',
          'C  Task C — not begun',
          'merge and gates — (stopped|not begun)',
          'Level 2: 1 task — not begun',
        ].join('\n.*'),
      ),
    );
  });

  it('a resumed run shows what is at work and what was done before', async () => {
    await project.graph('login', [
      { id: 'A', create: ['a.txt'], run: 'echo 1 > a.txt' },
      { id: 'B', level: 2, create: ['b.txt'], run: 'echo 1 > b.txt' },
      {
        id: 'C',
        level: 2,
        create: ['c.txt'],
        run: 'touch "$OUTSIDE/begun"; until [ -e "$OUTSIDE/go" ]; do sleep 0.02; done; echo 1 > c.txt',
      },
    ]);
    const first = project.start('kurukshetra', '--workers', '1');
    await waitFor('C to begin', () => existsSync(path.join(project.outside, 'begun')));
    first.child.kill('SIGINT');
    await first.end;

    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess', '--resume']);
    await waitFor('C to be drawn', () => /B  Task B[^]*C → worker/.test(lastFrame(run)));
    await go();
    expect(await run.end).toBe(0);
    expect(lastFrame(run)).toMatch(/Level 1: 1 task — done\n.*Level 2: 2 tasks — done/);
    expect(run.output()).not.toContain('not begun');
  });

  it('cleanup asks first: no changes nothing, yes removes', async () => {
    await go();
    await project.cli('kurukshetra');
    const no = atTerminal(project, ['cleanup']);
    await waitFor('the question', () => no.output().includes('Remove all this? [y/N]'));
    no.type('n\n');
    expect(await no.end).toBe(2);
    expect(project.git('branch', '--list', 'mahabharatha/*')).toContain('integration');

    const yes = atTerminal(project, ['cleanup']);
    await waitFor('the question', () => yes.output().includes('Remove all this? [y/N]'));
    yes.type('y\n');
    expect(await yes.end).toBe(0);
    expect(project.git('branch', '--list', 'mahabharatha/*')).toBe('');
  });
});
