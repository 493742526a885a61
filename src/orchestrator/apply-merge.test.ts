import { expect, it } from 'vitest';
import { commit, createWorld } from '../../test/support/decision-world.ts';
import type { RecordedEvent } from '../state/index.ts';
import { mergeTasks } from './apply-merge.ts';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import { createMerger } from './merger.ts';
import type { RunContext } from './ports.ts';

interface Scene {
  readonly context: RunContext;
  readonly journal: Journal;
  readonly events: RecordedEvent[];
  readonly refs: string[];
  /** Called at each merge; what it throws, the merge throws. */
  onMerge: (commit: string) => void;
  /** Files in which every merge meets a conflict; none without a conflict. */
  conflicts: readonly string[];
}

/** Two levels, of which A has failed in the first and B and C are done in the second. */
function openScene(): Scene {
  const world = createWorld([
    { id: 'A', level: 1 },
    { id: 'B', level: 2 },
    { id: 'C', level: 2 },
  ]);
  const events: RecordedEvent[] = [];
  const refs: string[] = [];
  const growth = { between: async () => ({ bytes: 0, heaviest: [] }), know: () => undefined };
  const repository = {
    checkoutGrowth: growth,
    merge: async (request: { commit: string }) => {
      scene.onMerge(request.commit);
      if (scene.conflicts.length > 0) return { kind: 'conflict', files: scene.conflicts };
      return { kind: 'merged', commit: commit(`+${request.commit}`) };
    },
    changedFiles: async (works: unknown[]) => works.map(() => new Set(scene.conflicts)),
    isWhole: async () => true,
    changeRefs: async (changes: { to: string }[]) => void refs.push(...changes.map(({ to }) => to)),
  };
  const ports = { repository, launcher: { capabilities: { sharesObjects: true } } };
  const options = { stop: new AbortController().signal, checkoutBytes: 1 };
  const graph = { feature: 'f', levels: [1, 2], tasks: [] };
  const context = { ports, options, graph } as unknown as RunContext;
  const clock = { now: () => 0, monotonic: () => 0 };
  const sinks = { clock, store: undefined as never, emit: (event: RecordedEvent) => void events.push(event) };
  const journal = openJournal(sinks, world.state);
  for (const [index, id] of ['A', 'B', 'C'].entries()) {
    const attempt = { task: id, attempt: 1, worker: index };
    journal.record({ type: 'attempt-started', ...attempt, base: journal.state.base, cause: 'ready' });
    const done = { detail: '', commit: commit(id), usage: null };
    if (id === 'A') journal.record({ type: 'task-failed', task: id, cause: 'red' });
    else journal.record({ type: 'attempt-accepted', ...attempt, ...done });
  }
  journal.record({ type: 'level-finished', level: 1, status: 'failed', cause: 'A' });
  events.length = 0;
  const scene: Scene = { context, journal, events, refs, onMerge: () => undefined, conflicts: [] };
  return scene;
}

const merge = ({ context, journal }: Scene): Promise<void> =>
  mergeTasks(context, journal, { level: 2, tasks: ['B', 'C'] });
const typesOf = ({ events }: Scene): string[] => events.map(({ type }) => type);

it('merges are recorded one by one, when one ref keeps them all', async () => {
  const scene = openScene();
  await merge(scene);
  expect(typesOf(scene)).toEqual(['task-merged', 'task-merged']);
  expect(scene.refs).toEqual([scene.journal.state.levels['2']?.trial?.tips.at(-1)]);
});

it('merges are not recorded when a lower level was opened again meanwhile: they lack what that level publishes', async () => {
  const scene = openScene();
  scene.onMerge = () => scene.journal.record({ type: 'task-reset', task: 'A', cause: 'asked to retry' });
  await merge(scene);
  expect(typesOf(scene)).not.toContain('task-merged');
  expect(scene.journal.state.levels['2']?.trial).toBeNull();
});

it('an error of a merge ends the run: it is thrown at the next look, and to what waits for the merges', async () => {
  const scene = openScene();
  const full = new Error('no space left');
  let merger = createMerger(scene.context, scene.journal, () => undefined);
  scene.onMerge = () => {
    throw full;
  };
  await new Promise<void>((resolve) => {
    merger = createMerger(scene.context, scene.journal, resolve);
    merger.begin({ kind: 'merge-tasks', level: 2, tasks: ['B'], cause: 'accepted' });
    expect(merger.busy).toBe(true);
  });
  expect(() => merger.busy).toThrow(full);
  await expect(merger.rest()).rejects.toBe(full);
});

it('a conflict names tasks that were merged, and not one that had a conflict before', async () => {
  const scene = openScene();
  scene.conflicts = ['x'];
  await merge(scene);
  const details = scene.events.map((event) => ('detail' in event ? event.detail : event.type));
  expect(details).toEqual(Array(2).fill('conflict with the integration branch in x'));
});
