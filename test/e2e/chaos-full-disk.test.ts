import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  MOMENTS_TRIED,
  SOAK,
  createChaos,
  delay,
  eventsSoFar,
  expectBuilt,
  seededRandom,
  sees,
  standardFeature,
  stateSoFar,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const SIZE_MB = 24;
const SEEDS = Array.from({ length: SOAK ? 40 : 3 }, (_, index) => index + 1);
const FULL_STARTS = 4;

/** The repository and the user's state folder are on the small disk. */
async function createChaosOn(folder: string): Promise<Chaos> {
  const usual = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    return await createChaos();
  } finally {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
  }
}

/** Takes all the room there is but so many bytes. */
function fill(folder: string, butBytes: number): void {
  const handle = openSync(path.join(folder, 'fill'), 'w');
  const block = Buffer.alloc(64 * 1024);
  const held = path.join(folder, 'held-back');
  const spare = openSync(held, 'w');
  try {
    writeSync(spare, Buffer.alloc(butBytes));
    for (let size = block.length; size > 0;) {
      try {
        size = writeSync(handle, block, 0, size);
      } catch {
        size = Math.floor(size / 16);
      }
    }
  } catch {
    // There is less room than was to be left.
  } finally {
    closeSync(handle);
    closeSync(spare);
    rmSync(held, { force: true });
  }
}

const empty = (folder: string): void => rmSync(path.join(folder, 'fill'), { force: true });

/** Fills and empties the disk until the run ends. Returns what was done, for the message. */
async function fillAtRandom(folder: string, live: LiveRun, chaos: Chaos, random: () => number): Promise<string> {
  const run = { over: false };
  void live.end.then(() => (run.over = true));
  const done: string[] = [];
  const wait = (longest: number): Promise<unknown> => Promise.race([delay(longest * random()), live.end]);
  // By the number of events: how long a run takes says nothing on a busy machine.
  const moment = eventsSoFar(chaos.project).length + 1 + Math.floor(random() * 25);
  await sees(live, () => eventsSoFar(chaos.project).length >= moment);
  while (!run.over) {
    const left = random() < 0.5 ? 0 : Math.floor(random() * 48) * 1024;
    fill(folder, left);
    done.push(`full but for ${left} after ${eventsSoFar(chaos.project).length} events`);
    await wait(random() < 0.3 ? 150 : 2500);
    empty(folder);
    await wait(3000);
  }
  empty(folder);
  const { exit, signal, stderr } = await live.end;
  expect(signal, stderr).toBe(null);
  expect([0, 1, 4], `${done.join('; ')}\n${stderr}`).toContain(exit);
  expect(stderr).not.toContain('This is a bug');
  return `${done.join('; ')} → ${exit}`;
}

/** That the end could be written down is not asked for where there was no room. */
async function expectNothingOfItLives({ project }: Chaos, story: string): Promise<void> {
  if (stateSoFar(project) !== undefined) expect(await project.processes(), story).toEqual([]);
}

/** A task whose own command finds no room fails, and tries again; what we could not write is charged to no task. */
function expectOnlyOwnFailures({ project }: Chaos): void {
  for (const event of eventsSoFar(project)) {
    if (event.type !== 'attempt-failed' || event.charge !== 'failure') continue;
    expect(event.outcome, JSON.stringify(event)).toMatch(/^(agent-failed|verification-failed)$/);
  }
}

const first = mountSmallDisk(SIZE_MB);
first?.remove();
const refused = first === undefined ? ' (no small disk can be mounted here)' : '';

describe.skipIf(refused !== '')(
  `a disk that fills up and empties while runs go on (${MOMENTS_TRIED})${refused}`,
  () => {
    it.each(SEEDS)('loses no work of a task, and the run completes when there is room: seed %i', async (seed) => {
      const disk = mountSmallDisk(SIZE_MB);
      if (disk === undefined) throw new Error('the small disk cannot be mounted any more');
      const chaos = await createChaosOn(disk.folder);
      try {
        const { project } = chaos;
        const random = seededRandom(seed * 15_485_863);
        const tasks = await standardFeature(chaos, '4s');
        await project.config(`${await project.read('.mahabharatha/config.yaml')}retry: { attempts: 20 }\n`);
        const story: string[] = [];
        const resumed = (): string[] => (stateSoFar(project) === undefined ? [] : ['--resume']);
        for (let start = 0; start < FULL_STARTS && stateSoFar(project)?.status !== 'complete'; start += 1) {
          const live = project.start('kurukshetra', ...resumed());
          story.push(await fillAtRandom(disk.folder, live, chaos, random));
          await expectNothingOfItLives(chaos, story.join('\n'));
        }
        expectOnlyOwnFailures(chaos);
        if (stateSoFar(project)?.status !== 'complete')
          await expectBuilt(chaos, await project.cli('kurukshetra', ...resumed()), tasks);
        expectSound(project, story.join('\n'));
        for (const id of tasks)
          expect(project.git('show', `mahabharatha/login/integration:${id}.txt`)).toBe(`made by ${id}\n`);
      } finally {
        empty(disk.folder);
        await chaos.remove();
        disk.remove();
      }
    });
  },
);
