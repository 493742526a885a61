import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../src/state/index.ts';
import {
  MOMENTS_TRIED,
  SOAK,
  createChaos,
  eventsSoFar,
  expectBuilt,
  letGo,
  sees,
  standardFeature,
  stateSoFar,
} from '../support/chaos.ts';

const SIZE_MB = 24;

let disk = '';
let refused = '';
const usual = process.env['TMPDIR'];

beforeAll(() => {
  disk = mkdtempSync(path.join(tmpdir(), 'mahabharatha-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tmpfs', disk], { stdio: 'pipe' });
    process.env['TMPDIR'] = disk;
  } catch (error) {
    refused = `no small disk can be mounted here: ${String(error).split('\n')[0]}`;
  }
});

afterAll(() => {
  if (usual === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = usual;
  if (refused === '') execFileSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** Takes all the room there is. */
function fill(): { free(): void } {
  const file = path.join(disk, 'fill');
  const handle = openSync(file, 'w');
  const block = Buffer.alloc(4096);
  try {
    for (;;) writeSync(handle, block);
  } catch {
    // It is full.
  } finally {
    closeSync(handle);
  }
  return { free: () => rmSync(file, { force: true }) };
}

const MOMENTS: (RecordedEvent['type'] | 'before the start')[] = [
  'before the start',
  'worker-started',
  'attempt-verifying',
  'gates-started',
  'level-published',
  ...(SOAK ? (['run-started', 'attempt-started', 'worker-phase', 'attempt-accepted'] as const) : []),
];

describe(`when the disk is full (${MOMENTS_TRIED})`, () => {
  it.for(MOMENTS)('%s: the run ends with a clear error and goes on when there is room', async (moment, context) => {
    context.skip(refused !== '', refused);
    const chaos = await createChaos();
    let filled: { free(): void } | undefined;
    try {
      const { project } = chaos;
      // A short verification may be over before the orchestrator hears of it, and the run before the disk is full.
      const verifySeconds = moment === 'attempt-verifying' ? 3 : 0.05;
      const tasks = await standardFeature(chaos, '2s', { verifySeconds, held: 'C' });
      if (moment === 'before the start') filled = fill();
      const live = project.start('kurukshetra');
      if (moment !== 'before the start') {
        await sees(live, () => eventsSoFar(project).some(({ type }) => type === moment));
        filled = fill();
      }
      const end = await live.end;
      expect([1, 4]).toContain(end.exit);
      expect(end.stdout + end.stderr).toMatch(
        /ENOSPC|No space left|Out of diskspace|unable to write file|couldn't write/,
      );
      expect(end.stderr).not.toContain('This is a bug');
      if (stateSoFar(project) !== undefined) expect(await project.processes()).toEqual([]);
      filled?.free();
      await letGo(chaos);
      const known = stateSoFar(project);
      const failed = Object.entries(known?.tasks ?? {}).filter(([, task]) => task.status === 'failed');
      expect(failed, 'a full disk is not the fault of a task').toEqual([]);
      const resume = known === undefined ? [] : ['--resume'];
      await expectBuilt(chaos, await project.cli('kurukshetra', ...resume), tasks);
      await project.events();
    } finally {
      filled?.free();
      await chaos.remove();
    }
  });
});
