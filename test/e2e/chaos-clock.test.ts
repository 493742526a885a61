import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  MOMENTS_TRIED,
  SOAK,
  atEach,
  delay,
  eventsSoFar,
  killIfThere,
  seededRandom,
  sees,
  tracedTask,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import type { CliResult } from '../support/project.ts';

const PRELOAD = fileURLToPath(new URL('../support/clock-jump.mjs', import.meta.url));
const HOUR_MS = 3_600_000;
/** Far below an hour, and far above any delay of the machine. */
const LEASE_MS = 30_000;
const SEEDS = Array.from({ length: SOAK ? 30 : 2 }, (_, index) => index + 1);
const TASKS = ['A', 'B', 'C', 'D', 'E'];

/**
 * The first attempt of A meets a rate limit, that of B fails; the others pass at once. Those of the second level wait for the
 * first jump: each worker has one of them, and so something to say after it.
 */
const AGENT = (outside: string): string => `#!/bin/bash
if [ "$1" = --version ]; then echo 2.1.0; exit; fi
cat > /dev/null
id=$MAHABHARATHA_TASK
echo "$id $$" >> '${outside}/ran'
touch spoilt.log
if mkdir "${outside}/tried-$id" 2> /dev/null; then
  if [ $id = A ]; then
    echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)"}'
    exit 1
  fi
  if [ $id = B ]; then
    echo '{"type":"result","subtype":"error_during_execution","is_error":true,"result":"it went wrong"}'
    exit 1
  fi
fi
sleep 0.4
case $id in D|E) until [ -e '${outside}/offset' ]; do sleep 0.02; done ;; esac
echo "made by $id" > $id.txt
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done"}'
`;

async function prepare(chaos: Chaos): Promise<void> {
  const { project, outside } = chaos;
  Object.assign(project.env, {
    NODE_OPTIONS: `--import ${PRELOAD}`,
    CLOCK_OFFSET: path.join(outside, 'offset'),
    IS_SANDBOX: '1',
  });
  await writeFile(path.join(outside, 'claude'), AGENT(outside), { mode: 0o755 });
  await project.write('.gitignore', '.mahabharatha/\nspoilt.log\n');
  project.commit('what is ignored');
  await project.config(
    [
      `claude: { command: "${outside}/claude" }`,
      `workers: { count: 2, lease: ${LEASE_MS}ms, setup: sleep 0.05 }`,
      'retry: { backoff: 1s, attempts: 3 }',
      'gates: [{ name: files, command: "sleep 0.3; test -f A.txt" }]',
      '',
    ].join('\n'),
  );
  const { run, ...rest } = tracedTask(chaos, '');
  void run;
  const task = (id: string, level: number): typeof rest => ({
    ...rest,
    id,
    level,
    create: [`${id}.txt`],
    verify: 'true',
  });
  await project.graph('login', [task('A', 1), task('B', 1), task('C', 1), task('D', 2), task('E', 2)]);
}

const jump = ({ outside }: Chaos, toMs: number): void => writeFileSync(path.join(outside, 'offset'), String(toMs));

const happened = ({ project }: Chaos, type: string): boolean =>
  eventsSoFar(project).some((event) => event.type === type);

/** All that the clock could have cost: lost workers and attempts that were not to fail. */
function expectNothingLost({ project }: Chaos): void {
  const events = eventsSoFar(project);
  const failed = events.flatMap((event) => (event.type === 'attempt-failed' ? [`${event.task} ${event.outcome}`] : []));
  expect(failed.toSorted()).toEqual(['A rate-limited', 'B agent-failed']);
  expect(events.filter((event) => event.type === 'worker-exited' && !event.expected)).toEqual([]);
}

function expectComplete(chaos: Chaos, end: CliResult, when: string): void {
  expect(end.exit, `${when}\n${end.stdout}\n${end.stderr}`).toBe(0);
  expectSound(chaos.project, when);
  const { project } = chaos;
  for (const id of TASKS)
    expect(project.git('show', `mahabharatha/login/integration:${id}.txt`)).toBe(`made by ${id}\n`);
}

/** By how much the last lines of workers are off: their clock has jumped as well. */
function offByOf({ project }: Chaos): number[] {
  const folder = path.join(project.folder, '.mahabharatha', 'logs', 'login');
  return readdirSync(folder).map((name) => {
    const last = readFileSync(path.join(folder, name), 'utf8').trim().split('\n').at(-1) ?? '{}';
    return Date.parse((JSON.parse(last) as { at: string }).at) - Date.now();
  });
}

async function jumpAtRandom(chaos: Chaos, live: LiveRun, random: () => number): Promise<string> {
  let over = false;
  void live.end.then(() => (over = true));
  const jumps: string[] = [];
  for (;;) {
    await Promise.race([delay(50 + 1200 * random()), live.end]);
    if (over) return jumps.join(', ');
    const hours = Math.floor(random() * 3) - 1;
    jump(chaos, hours * HOUR_MS);
    jumps.push(`${hours} h after ${eventsSoFar(chaos.project).length} events`);
  }
}

describe(`the wall clock jumps by an hour while a run goes on (${MOMENTS_TRIED})`, () => {
  it.each([
    ['forward', HOUR_MS],
    ['back', -HOUR_MS],
  ])('%s: no worker is lost, and a wait is no longer than it was made', async (direction, byMs) => {
    await atEach(
      ['worker-phase', 'attempt-failed', 'gates-started', ...(SOAK ? ['run-started', 'worker-starting'] : [])],
      (moment) => `${direction} after ${moment}`,
      async (chaos, moment) => {
        await prepare(chaos);
        const live = chaos.project.start('kurukshetra');
        expect(await sees(live, () => happened(chaos, moment))).toBe(true);
        jump(chaos, byMs);
        expectComplete(chaos, await live.end, `${direction} after ${moment}`);
        expectNothingLost(chaos);
        for (const offBy of offByOf(chaos)) expect(Math.abs(offBy - byMs)).toBeLessThan(HOUR_MS / 2);
      },
    );
  });

  it('again and again, in both directions', async () => {
    await atEach(
      SEEDS,
      (seed) => `seed ${seed}`,
      async (chaos, seed) => {
        await prepare(chaos);
        const live = chaos.project.start('kurukshetra');
        const jumps = await jumpAtRandom(chaos, live, seededRandom(seed * 104_729));
        expectComplete(chaos, await live.end, jumps);
        expectNothingLost(chaos);
      },
    );
  });

  it.each([
    ['forward', HOUR_MS],
    ['back', -HOUR_MS],
  ])('%s while no orchestrator lives: a resumed run takes its workers over and loses nothing', async (when, byMs) => {
    await atEach(
      ['attempt-failed', 'level-published'],
      (moment) => `${when} after ${moment}`,
      async (chaos, moment) => {
        await prepare(chaos);
        const live = chaos.project.start('kurukshetra');
        expect(await sees(live, () => happened(chaos, moment))).toBe(true);
        killIfThere(live.pid, 'SIGKILL');
        await live.end;
        jump(chaos, byMs);
        expectComplete(chaos, await chaos.project.cli('kurukshetra', '--resume'), `${when} after ${moment}`);
        const { tasks } = await chaos.project.state();
        const charged = Object.entries(tasks).map(([id, { failures }]) => [id, failures]);
        expect(charged).toEqual(TASKS.map((id) => [id, id === 'B' ? 1 : 0]));
      },
    );
  });
});
