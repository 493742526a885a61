import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { processTrouble, readProcessRecord } from './process-limit.ts';

describe('the record of the processes', () => {
  it.each(['.', 'pids'])('is read from control groups, below "%s"', (below) => {
    const root = tempFolder();
    mkdirSync(path.join(root, below), { recursive: true });
    writeFileSync(path.join(root, below, 'pids.events'), 'max 17\n');
    writeFileSync(path.join(root, below, 'pids.max'), '64\n');
    expect(readProcessRecord(root)).toEqual({ refusals: 17, limit: 64 });
    writeFileSync(path.join(root, below, 'pids.max'), 'max\n');
    expect(readProcessRecord(root)).toEqual({ refusals: 17, limit: undefined });
  });

  it('is empty where nothing tells', () => {
    expect(readProcessRecord(tempFolder())).toEqual({ refusals: undefined, limit: undefined });
  });
});

describe('what is said of the processes of a job', () => {
  it('is the limit when it was met meanwhile', () => {
    expect(processTrouble({ refusals: 1, limit: 64 }, { refusals: 3, limit: 64 })).toBe(
      "processes could not be started: the worker's limit of 64 (workers.container.pids) was reached",
    );
  });

  it.each([
    [
      { refusals: 3, limit: 64 },
      { refusals: 3, limit: 64 },
    ],
    [
      { refusals: undefined, limit: 64 },
      { refusals: 3, limit: 64 },
    ],
    [
      { refusals: 3, limit: 64 },
      { refusals: undefined, limit: 64 },
    ],
  ])('is nothing when it was met before, or nobody knows (%o, %o)', (before, after) => {
    expect(processTrouble(before, after)).toBeUndefined();
  });
});
