import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createWorld } from '../../../test/support/decision-world.ts';
import type { World } from '../../../test/support/decision-world.ts';
import type { WorkByWorker, WorkNow } from '../../project/index.ts';
import type { RecordedEvent, RunState } from '../../state/index.ts';
import { columnsOf } from './columns.ts';
import { colorsFor } from './colors.ts';
import { isShown, liveView } from './live-view.ts';
import type { ViewFacts } from './live-view.ts';

const SMALL = { columns: 80, rows: 24 };
const LARGE = { columns: 200, rows: 60 };
/** Of tasks, at most, in one level. */
const PER_LEVEL = 10;
const USAGE = { inputTokens: 12_000, outputTokens: 800, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0 };

const idOf = (index: number): string => `LOGIN-L${Math.floor(index / PER_LEVEL) + 1}-${String(index).padStart(3, '0')}`;

/** So many tasks, ten in each level. */
function worldOf(count: number, workers = 4): World {
  const tasks = Array.from({ length: count }, (_, index) => ({
    id: idOf(index),
    level: Math.floor(index / PER_LEVEL) + 1,
    // The one that fails blocks another.
    ...(index === PER_LEVEL ? { needs: [idOf(1)] } : {}),
  }));
  const world = createWorld(tasks, {
    workers,
    gates: [{ name: 'test', command: 'npm test', required: true, timeoutMs: 1 }],
  });
  world.settle();
  return world;
}

function titled(state: RunState): RunState {
  const titles = [
    'Types for users and sessions',
    'A service that knows who is logged in',
    'The form',
    '登录页面的路由',
  ];
  const tasks = Object.entries(state.tasks).map(([id, task], index) => [
    id,
    { ...task, title: titles[index % titles.length] ?? '' },
  ]);
  return { ...state, tasks: Object.fromEntries(tasks) as RunState['tasks'] };
}

/** One task has failed for good, two are done, and the workers are at work on others. */
function midway(count: number, workers = 4): RunState {
  const world = worldOf(count, workers);
  world.wait(61_000);
  for (let time = 0; time < 2; time += 1) {
    world.reports(1, {
      outcome: 'verification-failed',
      detail: 'the verification "npm test" failed: exit status 1',
      usage: { ...USAGE, costUsd: 0.4 },
    });
    world.settle();
    world.wait(5000);
  }
  for (const worker of [0, 2]) world.reports(worker, { usage: { ...USAGE, costUsd: 1 } });
  world.settle();
  world.wait(42_000);
  return titled(world.state);
}

const SAID: readonly Omit<WorkNow, 'work'>[] = [
  { says: ['I read the tests', 'Bash npx vitest run src/login'], usage: null },
  { says: ['Bash npm test', '\u001B[32m✓\u001B[39m 12 tests passed'], usage: { ...USAGE, costUsd: 0.05 } },
  { says: [], usage: USAGE },
];

/** What the first three workers say of what they have now. */
function sayingIn(state: RunState): WorkByWorker {
  return new Map(SAID.map((said, number) => [number, { ...said, work: workOf(state, number) }]));
}

function workOf({ workers, tasks }: RunState, number: number): string | null {
  const task = workers[number]?.task ?? null;
  const attempt = tasks[task ?? '']?.attempts.at(-1);
  return attempt === undefined ? task : `${task}.${attempt.number}`;
}

const at = '2026-01-01T00:01:07.000Z';
const EVENTS: readonly RecordedEvent[] = [
  { at, type: 'task-failed', task: idOf(1), cause: 'it has failed 2 times' },
  {
    at,
    type: 'attempt-accepted',
    task: idOf(0),
    attempt: 1,
    worker: 0,
    commit: '',
    detail: 'verified by: npm test',
    usage: null,
  },
];

function linesOf(state: RunState, size: typeof SMALL, more: Partial<ViewFacts> = {}, color = false): string[] {
  const now = Date.parse('2026-01-01T00:02:00.000Z');
  const facts = {
    state,
    work: sayingIn(state),
    events: EVENTS,
    now,
    hint: ['Ctrl-C stops in order'] as const,
    ...more,
  };
  return liveView(facts, size, colorsFor(color)).map(String);
}

const screen = (...given: Parameters<typeof linesOf>): string =>
  `\n${linesOf(...given)
    .map((line) => line.trimEnd())
    .join('\n')}\n`;

describe('a run on a screen of 80 columns and 24 rows', () => {
  it('of 4 tasks: all of them', () => {
    expect(screen(midway(4), SMALL)).toMatchInlineSnapshot(`
      "
      f running 2 min 0 s · 2 of 4 done · 1 failed · $2.80 · level 1 of 1

      ✗ LOGIN-L1-001  failed       1:06     $0.80  A service that knows who is logged…
          failed 2 of 2 times; last: the verification "npm test" failed: exit status 1
      · worker 0      idle


      · worker 1      idle


      · worker 2      idle


      ▶ LOGIN-L1-003  working      2:00            登录页面的路由



      ✓ LOGIN-L1-000  done         1:11     $1.00  Types for users and sessions
      ✓ LOGIN-L1-002  done         1:11     $1.00  The form


        00:01:07 LOGIN-L1-001 FAILED: it has failed 2 times
        00:01:07 LOGIN-L1-000 done: verified by: npm test
      Ctrl-C stops in order
      "
    `);
  });

  it('of 28 tasks: what has failed and what is at work, the others in one line', () => {
    expect(screen(midway(28), SMALL)).toMatchInlineSnapshot(`
      "
      f running 2 min 0 s · 2 of 28 done · 1 failed · $2.85 · level 1 of 3

      ✗ LOGIN-L1-000  failed       1:06     $0.80  Types for users and sessions
          failed 2 of 2 times; last: the verification "npm test" failed: exit status 1
      ▶ LOGIN-L1-005  working      0:49            A service that knows who is logged…
          I read the tests
          Bash npx vitest run src/login
      ▶ LOGIN-L1-004  working      0:54     $0.05  Types for users and sessions
          Bash npm test
          ✓ 12 tests passed
      ▶ LOGIN-L1-006  working      0:49   13k tok  The form


      ▶ LOGIN-L1-003  working      2:00            登录页面的路由



        2 done · 21 waiting



        00:01:07 LOGIN-L1-001 FAILED: it has failed 2 times
        00:01:07 LOGIN-L1-000 done: verified by: npm test
      Ctrl-C stops in order
      "
    `);
  });

  it('of 300 tasks and 30 workers: one line for each worker, as many as there is room for', () => {
    expect(screen(midway(300, 30), SMALL)).toMatchInlineSnapshot(`
      "
      f running 2 min 0 s · 2 of 300 done · 1 failed · $2.80 · level 1 of 30

      ✗ LOGIN-L1-000   failed       1:06     $0.80  failed 2 of 2 times; last: the ve…
      · worker 0       idle
      · worker 1       idle
      · worker 2       idle
      ▶ LOGIN-L1-003   working      2:00            登录页面的路由
      ▶ LOGIN-L1-004   working      2:00            Types for users and sessions
      ▶ LOGIN-L1-005   working      2:00            A service that knows who is logge…
      ▶ LOGIN-L1-006   working      2:00            The form
      ▶ LOGIN-L1-007   working      2:00            登录页面的路由
      ▶ LOGIN-L1-008   working      2:00            Types for users and sessions
      ▶ LOGIN-L1-009   working      2:00            A service that knows who is logge…

        2 done · 290 waiting






        00:01:07 LOGIN-L1-001 FAILED: it has failed 2 times
        00:01:07 LOGIN-L1-000 done: verified by: npm test
      Ctrl-C stops in order
      "
    `);
  });
});

describe('a run on a screen of 200 columns and 60 rows', () => {
  it('of 28 tasks: all of them', () => {
    expect(screen(midway(28), LARGE)).toMatchInlineSnapshot(`
      "
      f running 2 min 0 s · 2 of 28 done · 1 failed · $2.85 · level 1 of 3

      ✗ LOGIN-L1-000  failed       1:06     $0.80  Types for users and sessions
          failed 2 of 2 times; last: the verification "npm test" failed: exit status 1
      ▶ LOGIN-L1-005  working      0:49            A service that knows who is logged in
          I read the tests
          Bash npx vitest run src/login

      ▶ LOGIN-L1-004  working      0:54     $0.05  Types for users and sessions
          Bash npm test
          ✓ 12 tests passed

      ▶ LOGIN-L1-006  working      0:49   13k tok  The form



      ▶ LOGIN-L1-003  working      2:00            登录页面的路由




      ✓ LOGIN-L1-001  done         1:11     $1.00  A service that knows who is logged in
      ✓ LOGIN-L1-002  done         1:11     $1.00  The form
      · LOGIN-L1-007  waiting                      登录页面的路由
      · LOGIN-L1-008  waiting                      Types for users and sessions
      · LOGIN-L1-009  waiting                      A service that knows who is logged in
      · LOGIN-L2-010  waiting                      The form
      · LOGIN-L2-011  waiting                      登录页面的路由
      · LOGIN-L2-012  waiting                      Types for users and sessions
      · LOGIN-L2-013  waiting                      A service that knows who is logged in
      · LOGIN-L2-014  waiting                      The form
      · LOGIN-L2-015  waiting                      登录页面的路由
      · LOGIN-L2-016  waiting                      Types for users and sessions
      · LOGIN-L2-017  waiting                      A service that knows who is logged in
      · LOGIN-L2-018  waiting                      The form
      · LOGIN-L2-019  waiting                      登录页面的路由
      · LOGIN-L3-020  waiting                      Types for users and sessions
      · LOGIN-L3-021  waiting                      A service that knows who is logged in
      · LOGIN-L3-022  waiting                      The form
      · LOGIN-L3-023  waiting                      登录页面的路由
      · LOGIN-L3-024  waiting                      Types for users and sessions
      · LOGIN-L3-025  waiting                      A service that knows who is logged in
      · LOGIN-L3-026  waiting                      The form
      · LOGIN-L3-027  waiting                      登录页面的路由













        00:01:07 LOGIN-L1-001 FAILED: it has failed 2 times
        00:01:07 LOGIN-L1-000 done: verified by: npm test
      Ctrl-C stops in order
      "
    `);
  });

  it('of 300 tasks and 20 workers: what has failed and what is at work', () => {
    expect(screen(midway(300, 20), LARGE)).toMatchInlineSnapshot(`
      "
      f running 2 min 0 s · 2 of 300 done · 1 failed · $2.80 · level 1 of 30

      ✗ LOGIN-L1-000   failed       1:06     $0.80  Types for users and sessions
          failed 2 of 2 times; last: the verification "npm test" failed: exit status 1
      · worker 0       idle



      · worker 1       idle



      · worker 2       idle



      ▶ LOGIN-L1-003   working      2:00            登录页面的路由



      ▶ LOGIN-L1-004   working      2:00            Types for users and sessions



      ▶ LOGIN-L1-005   working      2:00            A service that knows who is logged in



      ▶ LOGIN-L1-006   working      2:00            The form



      ▶ LOGIN-L1-007   working      2:00            登录页面的路由



      ▶ LOGIN-L1-008   working      2:00            Types for users and sessions



      ▶ LOGIN-L1-009   working      2:00            A service that knows who is logged in




        2 done · 290 waiting











        00:01:07 LOGIN-L1-001 FAILED: it has failed 2 times
        00:01:07 LOGIN-L1-000 done: verified by: npm test
      Ctrl-C stops in order
      "
    `);
  });
});

describe('the picture', () => {
  const states = [worldOf(1, 1).state, midway(4), midway(28), midway(28, 16), midway(300, 64)];

  it('fits on every screen', () => {
    for (const state of states)
      for (const rows of [1, 2, 3, 5, 6, 7, 8, 11, 12, 16, 24, 40, 60])
        for (const columns of [1, 7, 80, 200]) {
          const lines = linesOf(state, { columns, rows }, {}, true).map(stripVTControlCharacters);
          expect(lines.length, `${rows} rows`).toBeLessThanOrEqual(rows);
          expect(Math.max(...lines.map(columnsOf)), `${columns} columns`).toBeLessThanOrEqual(columns);
          expect(lines[0]?.slice(0, 1)).toBe('f');
        }
  });

  it('has the row of each worker in the same place when others have nothing to do', () => {
    const world = worldOf(3, 3);
    const placeOf = (worker: string): number =>
      linesOf(titled(world.state), SMALL).findIndex((line) => line.includes(worker));
    const before = placeOf(idOf(2));
    world.reports(0, {});
    world.settle();
    expect(world.state.workers[0]?.task).toBeNull();
    expect(placeOf(idOf(2))).toBe(before);
    expect(screen(world.state, SMALL)).toContain('· worker 0      idle');
  });

  it('does not move what has failed, the sum of the others, and the last line while workers come and go', () => {
    for (const [count, workers] of [
      [28, 4],
      [300, 8],
      [300, 30],
    ] as const) {
      const busy = midway(count, workers);
      const one = busy.workers[0];
      if (one === undefined) throw new Error('nothing has begun');
      const atRest = { ...one, status: 'IDLE' as const, task: null };
      const none = { ...busy, workers: Object.fromEntries(Object.keys(busy.workers).map((key) => [key, atRest])) };
      const [before, after] = [busy, none].map((state) => {
        const lines = linesOf(state, SMALL);
        return [/✗/, /^ {4}failed 2 of 2/, / waiting/, /FAILED/, /Ctrl-C/].map((place) =>
          lines.findIndex((text) => place.test(text)),
        );
      });
      expect(after).toEqual(before);
      expect(before?.at(-1)).toBe(SMALL.rows - 1);
    }
  });

  it('shows the gates of a level as work of their worker', () => {
    const world = worldOf(1, 1);
    world.reports(0, {});
    world.settle();
    world.wait(9000);
    const now = Date.parse('2026-01-01T00:00:09.000Z');
    expect(screen(world.state, SMALL, { now })).toMatch(
      /^▷ level 1 +gates +0:09 .*test\n {4}I read the tests\n {4}Bash npx vitest/m,
    );
  });

  it('gives a task that has just begun neither the words nor the cost of the one before', () => {
    const world = worldOf(5, 2);
    const before = sayingIn(world.state);
    world.reports(1, {});
    world.settle();
    const text = screen(titled(world.state), SMALL, { work: before });
    expect(text).toMatch(/^▶ LOGIN-L1-002 +working +2:00 +The form\n\n/m);
    expect(text).not.toMatch(/\$|12 tests passed/);
    expect(text).toContain('Bash npx vitest run src/login');
  });

  it('has what a worker does beside its task where the row is wide and there is no room below', () => {
    const lines = linesOf(titled(worldOf(28, 16).state), { columns: 200, rows: 24 });
    const places = ['I read the tests', 'Bash npx vitest', '12 tests'].map((text) =>
      lines.map((one) => one.indexOf(text)),
    );
    expect(lines[2]).toMatch(
      /^▶ LOGIN-L1-001 +working .* A service that knows who is logged in {10,}Bash npx vitest run/,
    );
    expect(places.map((of) => Math.max(...of))).toEqual([-1, 122, 124]);
  });

  it('has no event that every worker has anyway', () => {
    const phase: RecordedEvent = { at, type: 'worker-phase', worker: 1, phase: 'busy' };
    expect([...EVENTS, phase].filter(isShown)).toEqual(EVENTS);
  });

  it('says that a worker is being set up, and that it waits for its model', () => {
    const { state } = worldOf(2, 2);
    const [one, two] = [state.workers[0], state.workers[1]];
    if (one === undefined || two === undefined) throw new Error('nothing has begun');
    const workers = {
      0: { ...one, cause: 'its worktree is being set up' },
      1: { ...two, trouble: 'the model cannot be reached' },
    };
    const text = screen({ ...state, workers }, SMALL);
    expect(text).toMatch(/^▶ LOGIN-L1-000 +set-up /m);
    expect(text).toMatch(/^▶ LOGIN-L1-001 +waits .*\n {4}the model cannot be reached$/m);
  });

  it('lets no text move the cursor, and cuts no letter in half', () => {
    const { state } = worldOf(1, 1);
    const hostile = '\u001B[2J\u202E登录\r\n\u0007';
    const tasks = Object.fromEntries(
      Object.entries(state.tasks).map(([id, task]) => [id, { ...task, title: hostile }]),
    );
    const work: WorkByWorker = new Map([[0, { work: workOf(state, 0), says: [hostile], usage: null }]]);
    const text = linesOf({ ...state, tasks }, SMALL, { work, events: [] }).join('');
    expect(text).toContain('\\u001b[2J\\u202e登录\\r\\n\\u0007');
    expect(text).toContain('\\u202e登录\\n\\u0007');
    expect(text).not.toMatch(/\p{C}/u);
  });
});
