import { describe, expect, it } from 'vitest';
import { adviceOn } from './advice.ts';
import { formatAdvice, formatMermaid } from './format-advice.ts';
import type { TaskGraph } from './graph.ts';
import { parseGraph } from './parse-graph.ts';
import { criticalPath, minutesAt, scheduleOf, usefulWorkers } from './schedule.ts';
import { verificationTraps } from './verification-traps.ts';

type Wish = Record<string, unknown> & { readonly id: string };

function graphOf(...tasks: readonly Wish[]): TaskGraph {
  const whole = tasks.map((task) => ({
    title: task.id,
    description: 'x',
    files: { create: [`${task.id}.txt`] },
    verification: { command: `test -s ${task.id}.txt` },
    ...task,
  }));
  const parsed = parseGraph({ feature: 'login', version: '2.0', tasks: whole });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  return parsed.graph;
}

const minutes = (id: string, estimate: number, ...dependencies: string[]): Wish => ({
  id,
  estimate_minutes: estimate,
  dependencies,
});

describe('the time that a graph takes', () => {
  const graph = graphOf(minutes('A', 30), minutes('B', 10), minutes('C', 10), minutes('D', 5, 'A', 'B'));

  it('is that of its levels, one after the other, longest tasks first', () => {
    expect([1, 2, 3, 9].map((workers) => minutesAt(graph, workers))).toEqual([55, 35, 35, 35]);
    expect(scheduleOf(graph, 2)[0]).toEqual({
      level: 1,
      from: 0,
      to: 30,
      workers: [
        [{ task: 'A', from: 0, to: 30 }],
        [
          { task: 'B', from: 0, to: 10 },
          { task: 'C', from: 10, to: 20 },
        ],
      ],
    });
  });

  it('does not get shorter beyond a number of workers', () => {
    expect(usefulWorkers(graph)).toBe(2);
    expect(usefulWorkers(graphOf(minutes('A', 5)))).toBe(1);
    expect(usefulWorkers(graphOf(...['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((id) => minutes(id, 5))))).toBe(7);
  });

  it('is at least that of its longest chain', () => {
    expect(criticalPath(graph)).toEqual({ tasks: ['A', 'D'], minutes: 35 });
    const many = Array.from({ length: 500 }, (_, index) =>
      minutes(`T${index}`, 1, ...(index > 0 ? [`T${index - 1}`] : [])),
    );
    expect(criticalPath(graphOf(...many)).minutes).toBe(500);
  });
});

describe('a verification', () => {
  it.each([
    ['npm test || true', /cannot fail/],
    ['npm test || echo FAIL', /cannot fail/],
    ['npm test; true', /cannot fail/],
    ['npm test; echo done', /cannot fail/],
    ['npm test || (echo FAIL)', /cannot fail/],
    ['npm test || { cat log; echo FAIL; }', /cannot fail/],
    ['npm test || tail log', /cannot fail/],
    ['npm test || true && npm run lint', /cannot fail/],
    ['npm test\necho done', /cannot fail/],
    ['if npm test; then echo PASS; fi', /cannot fail/],
    ['if ! npm test; then echo FAIL; fi', /cannot fail/],
    ['bash -c "npm test || true"', /cannot fail/],
    ["sh -lc 'npm test; exit 0'", /cannot fail/],
    ['npm test & npm run lint & wait', /cannot fail/],
    ['npm test 2>&1 | tee test.log', /pipefail/],
    ['npm test | sort', /pipefail/],
    ['true', /always succeeds/],
    ['echo ok', /always succeeds/],
    ['npm test | tail -5', /pipefail/],
    ['npm start &', /ends before/],
    ['cd src; npm test', /cd folder/],
    ['vitest --watch', /for ever/],
    ['npm install && npm test', /workers.setup/],
  ])('%j has a trap', (command, why) => {
    expect(verificationTraps(command)).toEqual([expect.stringMatching(why)]);
  });

  it.each([
    'npm test',
    'test -s a.txt && grep -q x a.txt',
    "grep -q '|| true' a.sh",
    'cd src && npm test',
    'npm test | grep -q passed',
    'vitest --watch=false',
    'a & wait $!',
    'npm test || exit 1',
    'npm test || { echo FAIL; exit 1; }',
    'npm test || (echo FAIL && exit 1)',
    'npm test || echo FAIL && exit 1',
    'if ! npm test; then echo FAIL; exit 1; fi',
    'grep "|| true" a.sh',
    'set -o pipefail; npm test | tee test.log',
    '[ $(ls src | wc -l) -eq 3 ]',
    'test "$(ls src | wc -l)" -eq 3',
    'cat a.txt',
    'npm test && echo ok',
    'npm run install-check',
    'echo "$x" | grep y',
  ])('%j has none', (command) => {
    expect(verificationTraps(command)).toEqual([]);
  });
});

describe('a verification that was made to keep the program busy', () => {
  it.each([
    ['long blanks', `true; echo${' '.repeat(100_000)}x&`],
    ['empty lines', `make${'\n'.repeat(300_000)}test`],
    ['beginnings of groups', `x ${'|| ( '.repeat(50_000)}`],
    ['ends of groups', `x || (${' echo x;'.repeat(50_000)}`],
    ['filters', `make${' | cat'.repeat(50_000)})`],
    ['quotes', `bash -c "${'bash -c \\"'.repeat(50_000)}`],
  ])('is read at once: %s', (_, command) => {
    const begun = performance.now();
    verificationTraps(command);
    expect(performance.now() - begun).toBeLessThan(30_000);
  });
});

describe('advice on a graph', () => {
  it('has nothing to say of a good one', () => {
    expect(adviceOn(graphOf(minutes('A', 5), minutes('B', 5, 'A')), 4)).toEqual({
      criticalPath: { tasks: ['A', 'B'], minutes: 10 },
      widths: [
        { level: 1, tasks: 1 },
        { level: 2, tasks: 1 },
      ],
      usefulWorkers: 1,
      minutes: [
        { workers: 1, minutes: 10 },
        { workers: 4, minutes: 10 },
      ],
      notes: [],
    });
  });

  it.each([
    [{ files: { create: Array.from({ length: 9 }, (_, index) => `f${index}`) } }, /^A writes 9 files: cut it/],
    [{ estimate_minutes: 90 }, /^A takes 90 minutes/],
    [{ verification: undefined }, /^A has no verification/],
    [{ verification: { command: 'true' } }, /^the verification of A always succeeds/],
    [{ description: '' }, /^A without a description/],
  ])('%j', (more, note) => {
    expect(adviceOn(graphOf({ id: 'A', ...more }), 1).notes).toEqual([expect.stringMatching(note)]);
  });

  it('names files that many tasks write', () => {
    const modify = { files: { modify: ['src/index.ts'] } };
    const graph = graphOf(
      { id: 'A', ...modify },
      { id: 'B', dependencies: ['A'], ...modify },
      { id: 'C', dependencies: ['B'], ...modify },
    );
    expect(adviceOn(graph, 1).notes).toEqual([
      expect.stringMatching(/^src\/index.ts is written by 3 tasks \(A, B, C\)/),
    ]);
  });

  it('is told in lines, and as a diagram', () => {
    const graph = graphOf(minutes('A', 5), { id: 'B', title: 'say "<hi>"', dependencies: ['A'] });
    expect(formatAdvice(graph, adviceOn(graph, 2), 2)).toEqual([
      'Feature login: 2 tasks in 2 levels',
      'Level 1, minute 0 to 5',
      '  worker 0  A (5)',
      'Level 2, minute 5 to 15',
      '  worker 0  B (10)',
      'Longest chain: A -> B (15 min)',
      'Time: 15 min with 1 worker, 15 min with 2 workers; more than 1 win nothing',
      '1 task without "estimate_minutes" counted as 10 min each',
    ]);
    expect(formatMermaid(graph)).toEqual([
      'flowchart LR',
      '  subgraph level1 [Level 1]',
      '    t0["A: A"]',
      '  end',
      '  subgraph level2 [Level 2]',
      '    t1["B: say #quot;#lt;hi#gt;#quot;"]',
      '  end',
      '  t0 --> t1',
    ]);
  });
});
