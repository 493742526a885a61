import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atTerminal, whyNoTerminal } from '../support/at-terminal.ts';
import type { AtTerminal } from '../support/at-terminal.ts';
import { createProject, simpleTask, waitFor } from '../support/project.ts';
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

const ENTERED = '\u001B[?1049h';
const LEFT = '\u001B[?7h\u001B[?25h\u001B[?1049l';

const plain = (text: string): string => stripVTControlCharacters(text).replaceAll('\r', '');

/** The picture as it was drawn last. */
const lastPicture = (run: AtTerminal): string => plain(run.output().split('\u001B[H\u001B[K').at(-1) ?? '');

/** Waits until one picture has all of it: a picture comes in pieces. */
const isDrawn = (run: AtTerminal, ...parts: readonly RegExp[]): Promise<unknown> =>
  waitFor(parts.join(' and '), () => {
    const picture = lastPicture(run);
    return parts.every((part) => part.test(picture));
  });

/** What stays on the terminal: all that was printed before and after the pictures. */
function leftOn(run: AtTerminal): string {
  const [before = '', ...rest] = run.output().split(ENTERED);
  expect(rest, 'one view').toHaveLength(1);
  const [, after, ...more] = (rest[0] ?? '').split(LEFT);
  expect(more).toEqual([]);
  return plain(before + (after ?? 'the screen was not given back'));
}

const go = (): Promise<void> => writeFile(path.join(project.outside, 'go'), '');
// oxlint-disable-next-line no-control-regex -- colours are control characters
const COLOR = /\u001B\[(3[0-9]|9[0-7]|1|2)m/;

describe.skipIf(whyNoTerminal !== '')(`at a terminal${whyNoTerminal}`, () => {
  it('a run has the whole screen while it goes on, and leaves all of its tasks and the summary there', async () => {
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess']);
    await isDrawn(
      run,
      /^login running \d+ s · 0 of 2 done · level 1 of 2$/m,
      /^▶ A +working +0:\d\d +Task A$/m,
      /^· B +waiting +Task B$/m,
    );
    await go();

    expect(await run.end).toBe(0);
    expect(leftOn(run)).toMatch(
      /Level 1: complete\n✓ A +done +0:\d\d +Task A\nLevel 2: complete\n✓ B +done .*\n\nFeature login: complete[^]*mahabharatha merge --feature login\n$/,
    );
    expect(run.output()).toMatch(COLOR);
  });

  it('a run of more tasks than the screen has rows never scrolls it, and what agents print is seen', async () => {
    const tasks = Array.from({ length: 44 }, (_, index) => simpleTask(`T${index}`));
    const wait = 'until [ -e "$OUTSIDE/go" ]; do sleep 0.02; done; echo 1 > S.txt';
    await project.graph('login', [{ id: 'S', create: ['S.txt'], run: `echo "compiling"; ${wait}` }, ...tasks]);
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess', '--workers', '2'], {
      columns: 80,
      rows: 11,
    });
    await isDrawn(run, /^▶ S +working +\d:\d\d +compiling$/m, /^ {2}\d+ done · \d+ waiting$/m);
    run.resize(100, 30);
    await isDrawn(run, /^(.*\n){29}.*$/, /^▶ S +working +\d:\d\d +Task S\n {4}compiling$/m);
    await go();
    expect(await run.end).toBe(0);
    expect(leftOn(run)).toMatch(/^✓ T43 +done /m);
  });

  it('a task shows that its agent cannot reach the model, as long as that is so', async () => {
    await project.config(await waitingClaude(project));
    await project.graph('login', [{ id: 'T-1', create: ['T-1.txt'] }]);
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess', '--trust-config']);
    await waitFor('the trouble to be drawn', () =>
      new RegExp(`^▶ T-1 +waits .*\\n {4}${WAITING}$`, 'm').test(lastPicture(run)),
    );
    await go();
    await waitFor('its end to be drawn', () => /^▶ T-1 +working /m.test(lastPicture(run)));
    await writeFile(path.join(project.outside, 'end'), '');
    expect(await run.end).toBe(0);
  });

  it.each([
    ['says that it has no width', { columns: 0 }],
    ['has no screen', { env: { TERM: 'dumb' } }],
  ])('a run is printed line by line where the terminal %s', async (_, how) => {
    await go();
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess'], how);
    expect(await run.end).toBe(0);
    expect(run.output()).not.toContain(ENTERED);
    expect(run.output()).toContain('level 1 starts: 1 task');
    expect(run.output()).toContain('A done: ');
  });

  it('has no colours when NO_COLOR is set, and a pipe has them when FORCE_COLOR is', async () => {
    await go();
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess'], { env: { NO_COLOR: '1' } });
    expect(await run.end).toBe(0);
    expect(run.output()).toContain('Feature login: complete');
    expect(run.output()).not.toMatch(COLOR);
    const status = atTerminal(project, ['status'], { env: { NO_COLOR: '1' } });
    expect(await status.end).toBe(0);
    expect(status.output()).not.toMatch(COLOR);
    project.env['FORCE_COLOR'] = '1';
    expect((await project.cli('status')).stdout).toMatch(COLOR);
    expect((await project.cli('status', '--json')).stdout).not.toMatch(COLOR);
  });

  it('Ctrl-C stops a run in order: exit 130, nothing left, and it can be resumed', async () => {
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess']);
    await waitFor('the task to begin', async () => (await project.processes().catch(() => [])).length > 1);
    run.type('\u0003');

    expect(await run.end).toBe(130);
    expect(run.output()).toContain('Stopping in order; Ctrl-C once more stops at once');
    expect(leftOn(run)).toContain('interrupted (SIGINT)');
    expect(await project.processes()).toEqual([]);
    await go();
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
  });

  it('a second Ctrl-C gives the screen back, too', async () => {
    await project.graph('login', [{ id: 'A', run: 'trap "" TERM; touch "$OUTSIDE/begun"; sleep 600' }]);
    const run = atTerminal(project, ['kurukshetra', '--mode', 'subprocess']);
    await waitFor('the task to begin', () => existsSync(path.join(project.outside, 'begun')));
    run.type('\u0003');
    await waitFor('the answer', () => lastPicture(run).includes('Stopping in order'));
    await waitFor('the moment of the first one to pass', async () => {
      run.type('\u0003');
      return run.output().includes('Stopping at once');
    });
    expect(await run.end).toBe(130);
    expect(leftOn(run)).toContain('Stopping at once. What was finished is kept.');
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
    await waitFor('C to be drawn', () => /^▶ C +working [^]*✓ A +done [^]*✓ B +done /m.test(lastPicture(run)));
    await go();
    expect(await run.end).toBe(0);
    expect(leftOn(run)).toMatch(/✓ A +done .*\nLevel 2: complete\n✓ B +done .*\n✓ C +done /);
  });

  it('a run is watched on the whole screen, and Ctrl-C ends only the view, without a word', async () => {
    const run = project.start('kurukshetra');
    await waitFor('A to begin', () => existsSync(path.join(project.outside, 'begun')));
    const watch = atTerminal(project, ['status', '--watch']);
    await isDrawn(watch, /^▶ A +working .*\n/m, /Ctrl-C ends this view; the run goes on/);
    watch.type('\u0003');
    expect(await watch.end).toBe(130);
    expect(leftOn(watch)).toMatch(/^(\^C)?$/);
    const logs = atTerminal(project, ['logs', '--follow']);
    await waitFor('a line', () => logs.output().includes('A begins'));
    logs.type('\u0003');
    expect(await logs.end).toBe(130);
    expect(logs.output()).not.toMatch(/stopping/i);

    const second = atTerminal(project, ['status', '--watch']);
    await waitFor('A to be drawn', () => /^▶ A +working /m.test(lastPicture(second)));
    await go();
    expect((await run.end).exit).toBe(0);
    expect(await second.end).toBe(0);
    expect(leftOn(second)).toMatch(/^Level 1: complete[^]*✓ A +done [^]*\nFeature login: complete /);
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('%s at a question ends without a word: nothing is done, exit 130', async (_, key) => {
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: 'echo a > a.txt' }]);
    await project.cli('kurukshetra', '--mode', 'subprocess');
    const asked = atTerminal(project, ['cleanup']);
    await waitFor('the question', () => asked.output().includes('Remove all this? [y/N]'));
    asked.type(key);
    expect(await asked.end).toBe(130);
    expect(plain(asked.output())).toMatch(/Remove all this\? \[y\/N\]\s*$/);
    expect(project.git('branch', '--list', 'mahabharatha/*')).toContain('integration');
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
