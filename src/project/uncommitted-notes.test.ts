import { expect, it } from 'vitest';
import { uncommittedNotes } from './uncommitted-notes.ts';

it('files that workers will not find are named, and lock files again where there is a set-up', () => {
  const files = ['.mahabharatha/config.yaml', 'package-lock.json', 'src/a.ts'];
  const missing = 'workers start from the last commit; not in it: package-lock.json, src/a.ts';
  expect(uncommittedNotes(files, {})).toEqual([missing]);
  expect(uncommittedNotes(files, { setup: 'npm ci' })).toEqual([
    missing,
    'the set-up ("npm ci") works with the last commit, too: commit package-lock.json first',
  ]);
  expect(uncommittedNotes(['src/a.ts'], { setup: 'npm ci' })).toHaveLength(1);
  expect(uncommittedNotes(['.mahabharatha/specs/x/task-graph.json'], { setup: 'npm ci' })).toEqual([]);
});
