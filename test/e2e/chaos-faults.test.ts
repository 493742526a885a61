import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../src/state/index.ts';
import {
  SOAK,
  createChaos,
  eventsSoFar,
  expectBuilt,
  letGo,
  sees,
  standardFeature,
  stateSoFar,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';

const FAULTS = fileURLToPath(new URL('../support/faults.mjs', import.meta.url));

type Moment = RecordedEvent['type'];
const MOMENTS: Moment[] = [
  'attempt-started',
  ...(SOAK ? (['worker-starting', 'attempt-verifying', 'gates-started'] as const) : []),
];
/** The run is not over before the order is given, and has its last assignments still to write. */
const HELD = { verifySeconds: SOAK ? 3 : 0.05, held: SOAK ? 'C' : 'B' } as const;

interface Faults extends Chaos {
  readonly order: string;
}

/** The orchestrator of this project does as it is ordered to. */
async function createFaults(): Promise<Faults> {
  const chaos = await createChaos();
  const order = path.join(chaos.outside, 'order');
  Object.assign(chaos.project.env, { NODE_OPTIONS: `--import ${FAULTS}`, FAULTS_ORDER: order });
  return { ...chaos, order };
}

const reached = (chaos: Chaos, live: LiveRun, moment: Moment): Promise<boolean> =>
  sees(live, () => eventsSoFar(chaos.project).some(({ type }) => type === moment));

/** Whatever has happened: it was told, it is in the state, no process is left, and the run can go on. */
async function expectOrderlyStop(
  chaos: Chaos,
  live: LiveRun,
  tasks: readonly string[],
  wanted: { exit: number; says: RegExp; leaves?: 'worktrees' },
): Promise<void> {
  const end = await live.end;
  expect([end.exit, end.signal], end.stdout + end.stderr).toEqual([wanted.exit, null]);
  expect(end.stdout + end.stderr).toMatch(wanted.says);
  expect(stateSoFar(chaos.project)?.status).toBe('stopped');
  // Without descriptors no git can be started that would remove a worktree: it goes with the resume, which is checked below.
  if (wanted.leaves === undefined) expectSound(chaos.project, `stopped with exit ${wanted.exit}`);
  const failures = Object.values(stateSoFar(chaos.project)?.tasks ?? {}).map((task) => task.failures);
  expect(failures, 'trouble of the machine is not the fault of a task').toEqual(tasks.map(() => 0));
  await letGo(chaos);
  await expectBuilt(chaos, await chaos.project.cli('kurukshetra', '--resume'), tasks);
}

describe('the orchestrator ends in order, and the run can be resumed,', () => {
  it.each(MOMENTS.flatMap((moment) => (['throw', 'reject'] as const).map((what) => [what, moment] as const)))(
    'when something is thrown where nothing catches it: %s after %s',
    async (what, moment) => {
      const chaos = await createFaults();
      try {
        const tasks = await standardFeature(chaos, '10s', HELD);
        const live = chaos.project.start('kurukshetra');
        await reached(chaos, live, moment);
        writeFileSync(chaos.order, what);
        await expectOrderlyStop(chaos, live, tasks, { exit: 1, says: /planted by the test[^]*This is a bug/ });
      } finally {
        await chaos.remove();
      }
    },
  );

  it.each(MOMENTS)('when there are no file descriptors left after %s', async (moment) => {
    const chaos = await createFaults();
    try {
      const tasks = await standardFeature(chaos, '10s', HELD);
      const live = chaos.project.start('kurukshetra');
      await reached(chaos, live, moment);
      execFileSync('prlimit', ['--pid', String(live.pid), '--nofile=256']);
      writeFileSync(chaos.order, 'take all descriptors');
      const says = /too many (open files|files are open)/;
      await expectOrderlyStop(chaos, live, tasks, { exit: 4, says, leaves: 'worktrees' });
    } finally {
      await chaos.remove();
    }
  });

  it.each([
    ['EIO', '/.login.json.'],
    ['EIO', 'events.jsonl'],
    ['EIO', 'assignment.json'],
    ['EDQUOT', '/.login.json.'],
    ['EROFS', 'assignment.json'],
  ])('when the system says %s of %s', async (code, part) => {
    const chaos = await createFaults();
    try {
      const tasks = await standardFeature(chaos, '10s', HELD);
      const live = chaos.project.start('kurukshetra');
      await reached(chaos, live, 'attempt-started');
      writeFileSync(chaos.order, `${code} ${part}`);
      await letGo(chaos);
      const end = await live.end;
      expect([end.exit, end.signal], end.stdout + end.stderr).toEqual([4, null]);
      expect(end.stderr).toMatch(new RegExp(`cannot be written: ${code}[^]*Then go on with --resume`));
      expect(await chaos.project.processes()).toEqual([]);
      await rm(chaos.order);
      await expectBuilt(chaos, await chaos.project.cli('kurukshetra', '--resume'), tasks);
    } finally {
      await chaos.remove();
    }
  });
});

it('a run does not fail while another git runs gc all the time', async () => {
  const chaos = await createChaos();
  try {
    const { project } = chaos;
    const tasks = await standardFeature(chaos, '10s');
    const live = project.start('kurukshetra');
    let over = false;
    void live.end.then(() => (over = true));
    for (const tidy of forever([['gc', '--quiet', '--force'], ['pack-refs', '--all', '--prune'], ['prune-packed']])) {
      if (over) break;
      await tidyUp(project.folder, project.env, tidy);
    }
    await expectBuilt(chaos, await live.end, tasks);
    const failures = eventsSoFar(project).filter(({ type }) => type === 'attempt-failed');
    expect(failures).toEqual([]);
  } finally {
    await chaos.remove();
  }
});

function* forever<Item>(items: readonly Item[]): Generator<Item> {
  for (;;) yield* items;
}

/** Two at once may get in each other's way: how it ends is of no account. */
function tidyUp(cwd: string, env: NodeJS.ProcessEnv, args: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env }, () => resolve());
  });
}
