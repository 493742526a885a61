import { describe, expect, it } from 'vitest';
import { whyKept } from './clean-all.ts';

const merged = { isQuestion: false, pid: undefined, status: 'complete', unmerged: 0 } as const;

describe('cleanup --all', () => {
  it.each([
    ['that is merged', merged],
    ['without state, whose work another branch has', { ...merged, status: null }],
    ['of an agent that planned', { ...merged, isQuestion: true, status: 'failed', unmerged: 2 }],
  ] as const)('removes a run %s', (_, facts) => {
    expect(whyKept(facts, false)).toBeNull();
  });

  it.each([
    ['is paused', { ...merged, status: 'paused' }, 'its run is paused and can go on'],
    ['was killed', { ...merged, status: 'running' }, 'its run is broken off and can go on'],
    ['is not merged', { ...merged, unmerged: 1 }, '1 commit is in no branch outside mahabharatha/'],
    [
      'has no state and is not merged',
      { ...merged, status: null, unmerged: 2 },
      '2 commits are in no branch outside mahabharatha/',
    ],
    ['has a damaged state', { ...merged, status: 'damaged' }, 'its state cannot be read'],
  ] as const)('keeps a run that %s, unless such runs are wanted', (_, facts, words) => {
    expect(whyKept(facts, false)).toBe(words);
    expect(whyKept(facts, true)).toBeNull();
  });

  it('keeps a live run in any case', () => {
    for (const wanted of [true, false])
      expect(whyKept({ ...merged, isQuestion: true, pid: 7 }, wanted)).toBe('it runs now (process 7)');
  });
});
