import { describe, expect, it } from 'vitest';
import { mendGraph } from './mend-graph.ts';
import { parseGraph } from './parse-graph.ts';

interface Wish {
  readonly id: string;
  readonly level?: number;
  readonly dependencies?: readonly string[];
  readonly files?: { readonly create?: readonly string[]; readonly modify?: readonly string[] };
}

/** "A:1<B=x,y" is task A of level 1 that needs B and changes x and y. */
function graphOf(text: string): { feature: string; tasks: Wish[] } {
  const tasks = text.split(' ').map((word) => {
    const [, id = '', level, needs, files] = /^(\w+)(?::(\d+))?(?:<([\w,]+))?(?:=(.+))?$/.exec(word) ?? [];
    return {
      id,
      ...(level === undefined ? {} : { level: Number(level) }),
      dependencies: needs?.split(',') ?? [],
      files: { modify: files?.split(',') ?? [] },
    };
  });
  return { feature: 'login', tasks };
}

const mended = (graph: { tasks: Wish[] }): { tasks: Wish[] } => {
  const levels = new Map(mendGraph(graph, 'enforce').mends.map(({ task, to }) => [task, to]));
  return {
    ...graph,
    tasks: graph.tasks.map((task, index) => ({ ...task, level: levels.get(index) ?? task.level })),
  } as {
    tasks: Wish[];
  };
};

/** The graph after a person has given each task the level that the problems say. */
function followed(graph: { tasks: Wish[] }): unknown {
  const parsed = parseGraph(graph);
  const advice = (parsed.ok ? [] : parsed.problems).map((problem) => /give "(\w+)" level (\d+)/.exec(problem));
  const told = new Map(advice.map((found) => [found?.[1], Number(found?.[2])]));
  return { ...graph, tasks: graph.tasks.map((task) => ({ ...task, level: told.get(task.id) ?? task.level })) };
}

/** Up to twelve tasks that need earlier ones, and change some of five files; each seed gives another graph. */
function randomGraph(seed: number): string {
  let state = seed * 2_654_435_761;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: 2 + next(11) }, (_, index) => {
    const level = next(2) === 0 ? '' : `:${next(5)}`;
    const needs =
      index === 0 || next(2) === 0 ? '' : `<${[...new Set([next(index), next(index)])].map((n) => `T${n}`).join(',')}`;
    const files = next(4) === 0 ? '' : `=${[...new Set([next(5), next(5)])].map((n) => `f${n}`).join(',')}`;
    return `T${index}${level}${needs}${files}`;
  }).join(' ');
}

function mendsOf(text: string): string {
  const { mends, problems } = mendGraph(graphOf(text), 'enforce');
  expect(problems).toEqual([]);
  return mends.map(({ id, from, to, cause }) => `${id}:${from}->${to} as ${cause}`).join('\n');
}

const CASES = [
  ['A B<A', ''],
  ['A:1 B:1<A', 'B:1->2 as it needs "A" of level 1'],
  ['A:2 B:1<A C:1<B', 'B:1->3 as it needs "A" of level 2\nC:1->4 as it needs "B" of level 3'],
  ['A=x B=x', 'B:null->2 as it shares files with "A"'],
  ['A:1=x B:1=x C:1=x', 'B:1->2 as it shares files with "A"\nC:1->3 as it shares files with "B"'],
  ['A=x,y B=x C=y', 'B:null->2 as it shares files with "A"\nC:null->2 as it shares files with "A"'],
  // What needs a task that moves goes up with it.
  ['A:1=x B:1=x C:2<B', 'B:1->2 as it shares files with "A"\nC:2->3 as it needs "B" of level 2'],
  ['A=x B=x C<B', 'B:null->2 as it shares files with "A"'],
  // A task that was in a level at first stays there.
  ['A:1=x B:1=x C:2=x', 'B:1->3 as it shares files with "C"'],
  // A task that goes up with another one may meet a rival there.
  ['A:1=x B:1=x C:2<B=y D:3=y', 'B:1->2 as it shares files with "A"\nC:2->4 as it shares files with "D"'],
  ['A:0=x B:0=x', 'B:0->1 as it shares files with "A"'],
  ['A=src/ B=src/a.ts', 'B:null->2 as it shares files with "A"'],
] as const;

describe('the levels of a graph are mended', () => {
  it.each(CASES)('%s', (text, mends) => {
    expect(mendsOf(text)).toBe(mends);
  });

  it.each(CASES)('so that nothing is left to mend in %s', (text) => {
    const after = mended(graphOf(text));
    expect(parseGraph(after)).toMatchObject({ ok: true });
    expect(mendGraph(after, 'enforce')).toEqual({ mends: [], problems: [] });
    expect(parseGraph(after).warnings.filter((warning) => warning.includes('so it runs'))).toEqual([]);
  });

  it.each(CASES)('as the problems of %s say, so that following them once is enough', (text) => {
    expect(parseGraph(followed(graphOf(text)))).toMatchObject({ ok: true });
  });

  it('both ways in many graphs', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const graph = graphOf(randomGraph(seed));
      expect(parseGraph(mended(graph)), `mended: ${randomGraph(seed)}`).toMatchObject({ ok: true });
      expect(parseGraph(followed(graph)), `followed: ${randomGraph(seed)}`).toMatchObject({ ok: true });
      expect(mendGraph(mended(graph), 'enforce').mends, `again: ${randomGraph(seed)}`).toEqual([]);
    }
  });

  it('unless ownership is not enforced: then shared files are noted, and stay', () => {
    for (const ownership of ['warn', 'off'] as const) {
      const graph = graphOf('A:1=x B:1=x C:1<A');
      expect(mendGraph(graph, ownership).mends.map(({ id }) => id)).toEqual(['C']);
      const parsed = parseGraph(graph, ownership);
      expect(parsed).toMatchObject({ ok: true });
      expect(parsed.warnings).toContainEqual(
        'tasks[1].files.modify[0]: "x" of "B" and "x" of "A" (tasks[0].files.modify[0]), both in level 1, can mean the same file: the second of them to be merged may be done again',
      );
    }
  });

  it('not at all where more is wrong', () => {
    expect(mendGraph({ ...graphOf('A:1=x B:1=x'), feature: 'a b' }, 'enforce')).toEqual({
      mends: [],
      problems: [expect.stringContaining('"a b" is not a feature name')],
    });
    expect(mendGraph(graphOf('A<B=x B<A=x'), 'enforce').problems).toEqual([
      expect.stringContaining('wait for each other'),
    ]);
    expect(mendGraph(null, 'enforce').problems).toEqual(['task graph: expected an object, got null']);
  });

  it('in a graph of hundreds of tasks that all want one file', () => {
    const graph = graphOf(Array.from({ length: 150 }, (_, index) => `T${index}=index.ts`).join(' '));
    expect(mendGraph(graph, 'enforce').mends.at(-1)).toMatchObject({ id: 'T149', to: 150 });
    expect(parseGraph(mended(graph))).toMatchObject({ ok: true });
    const parsed = parseGraph(graph);
    expect(parsed.ok ? [] : parsed.problems.at(-1)).toBe('tasks: only the first 100 clashes over files are shown');
  });

  it('not where far too many tasks want one file', () => {
    const tasks = Array.from({ length: 300 }, (_, index) => `T${index}=index.ts`).join(' ');
    const { mends, problems } = mendGraph(graphOf(tasks), 'enforce');
    expect(mends).toEqual([]);
    expect(problems[0]).toContain('move one of the tasks to another level or give the file to one task');
  });
});

it('a task that comes to share a level with a rival when others move is named, too', () => {
  const parsed = parseGraph(graphOf('A:1=x B:1=x C:2<B=y D:3=y'));
  expect(parsed.ok ? [] : parsed.problems).toEqual([
    'tasks[1].files.modify[0]: "x" of "B" and "x" of "A" (tasks[0].files.modify[0]), both in level 1, can mean the same file; give "B" level 2 (check --fix writes it), or the file to one task alone',
    'tasks[3].files.modify[0]: "y" of "D" and "y" of "C" (tasks[2].files.modify[0]) would both be in level 3 when the others have moved, and can mean the same file; give "C" level 4 (check --fix writes it), or the file to one task alone',
  ]);
});
