import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';

describe('attempts that change nothing', () => {
  it('fail, with who may have done the work, and how that is accepted', () => {
    const world = createWorld([
      { id: 'A', creates: ['a.txt'] },
      { id: 'B', creates: ['a.txt', 'b.txt'], needs: ['A'] },
    ]);
    world.settle();
    world.reports(0, { changed: ['a.txt'] });
    world.settle();
    world.reports(0, { commit: null, changed: [] });
    world.settle();
    const { attempts, feedback } = world.state.tasks['B'] ?? {};
    expect(attempts?.[0]).toMatchObject({
      outcome: 'no-change',
      detail:
        'nothing was changed; expected changes to a.txt, b.txt; if the work may be there already, "satisfied": true in the task lets its verification decide; merged before it, with the same files: A',
    });
    expect(feedback).toBe('nothing was changed; expected changes to a.txt, b.txt');
    world.reports(0, { outcome: 'no-change', detail: 'nothing was changed', commit: null, changed: [] });
    world.settle();
    expect(world.state.tasks['B']?.cause).toContain('nothing was changed; merged before it, with the same files: A');
  });

  it('are accepted when the work may be there already', () => {
    const world = createWorld([{ id: 'A', satisfied: true, verify: 'make test' }]);
    world.settle();
    world.reports(0, { commit: null, changed: [], detail: 'verified by: make test' });
    expect(world.settle()).toContain('finish complete 0: 1 of 1 tasks are merged');
  });
});
