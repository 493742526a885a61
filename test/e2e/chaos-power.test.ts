import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/lib/index.ts';
import type { RunState } from '../../src/state/index.ts';
import {
  SOAK,
  createChaos,
  delay,
  eventsSoFar,
  expectBuilt,
  killIfThere,
  sees,
  seededRandom,
  standardFeature,
  stateSoFar,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import { makeDisk, noDisk } from '../support/power-loss.ts';
import type { Disk } from '../support/power-loss.ts';
import { waitFor } from '../support/project.ts';

const refused = noDisk();
const TRIALS = Array.from({ length: SOAK ? 60 : 4 }, (_, index) => index + 1);

/** What is created from now on is on the disk. */
async function createChaosOn(disk: Disk): Promise<Chaos> {
  const usual = process.env['TMPDIR'];
  process.env['TMPDIR'] = disk.folder;
  try {
    return await createChaos();
  } finally {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
  }
}

/** Everything is gone at once: the disk's memory and all processes. */
async function losePower(chaos: Chaos, live: LiveRun, disk: Disk): Promise<void> {
  disk.cutPower();
  const home = chaos.project.env['HOME'] ?? '';
  await waitFor('all processes are gone', async () => {
    const left = [...(await findByEnvironment('HOME', home))];
    for (const pid of left) killIfThere(pid, 'SIGKILL');
    return left.length === 0;
  });
  await live.end;
  await disk.restorePower();
}

describe('when the power is lost', () => {
  it.for(TRIALS)('the run goes on and nothing that was reported as done is lost: trial %i', async (trial, context) => {
    context.skip(refused !== undefined, refused);
    const disk = makeDisk();
    const chaos = await createChaosOn(disk);
    try {
      const { project } = chaos;
      const tasks = await standardFeature(chaos, '2s');
      execFileSync('sync', ['-f', disk.folder]);
      const random = seededRandom(trial * 1_000_003);
      random();
      const live = project.start('kurukshetra');
      // By the number of events: how long a run takes says nothing on a busy machine.
      const moment = 1 + Math.floor(random() * 30);
      await sees(live, () => eventsSoFar(project).length >= moment);
      await delay(random() * 100);
      const done = finishedForSure(chaos);
      await losePower(chaos, live, disk);
      expect(finished(stateSoFar(project)), 'what the state said to be done').toEqual(
        expect.arrayContaining([...done]),
      );
      const resume = stateSoFar(project) === undefined ? [] : ['--resume'];
      const end = await project.cli('kurukshetra', ...resume);
      if (!/is complete/.test(end.stderr)) await expectBuilt(chaos, end, tasks);
      expectSound(project, `power lost after ${moment} events`);
    } finally {
      await chaos.remove().catch(() => undefined);
      disk.remove();
    }
  });
});

const finished = (state: RunState | undefined): string[] =>
  Object.entries(state?.tasks ?? {})
    .filter(([, task]) => task.status === 'complete')
    .map(([id]) => id);

it('a task with a damaged commit is done again, and the run says so', async () => {
  const chaos = await createChaos();
  try {
    const { project } = chaos;
    const tasks = await standardFeature(chaos, '2s');
    const live = project.start('kurukshetra');
    await sees(live, () => stateSoFar(project)?.tasks['B']?.status === 'complete');
    live.child.kill('SIGTERM');
    await live.end;
    const commit = stateSoFar(project)?.tasks['B']?.commit ?? '';
    const file = project.git('rev-parse', `${commit}:B.txt`).trim();
    await rm(path.join(project.folder, '.git', 'objects', file.slice(0, 2), file.slice(2)));
    const merged = stateSoFar(project)?.tasks['B']?.merged === true;
    const end = await project.cli('kurukshetra', '--resume');
    if (merged) return;
    expect(end.stdout).toContain('the repository has not all of its commit');
    expect(await chaos.timesRan('B')).toBe(2);
    await expectBuilt(chaos, end, tasks);
  } finally {
    await chaos.remove();
  }
});

/** By a snapshot that is on the disk: it is, when the log has gone on. */
function finishedForSure({ project }: Chaos): string[] {
  const state = stateSoFar(project);
  const last = eventsSoFar(project).at(-1) as { seq?: number } | undefined;
  return state !== undefined && (last?.seq ?? 0) > state.events ? finished(state) : [];
}
