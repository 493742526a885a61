import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { processesExceeded, readProcessRecord } from './process-limit.ts';

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

  it('is empty without control groups', () => {
    expect(readProcessRecord(tempFolder())).toEqual({ refusals: undefined, limit: undefined });
  });
});

describe('the limit of processes', () => {
  it('was reached when the kernel has refused a process since', () => {
    expect(processesExceeded({ refusals: 1, limit: 64 }, { refusals: 3, limit: 64 })).toEqual({
      limit: 'processes',
      most: 64,
    });
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
  ])('was not reached when that was before, or the kernel does not count (%o, %o)', (before, after) => {
    expect(processesExceeded(before, after)).toBeUndefined();
  });
});
