import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Snapshot } from '../src/orchestrator/plan.ts';
import { runState } from '../src/state/schema.ts';

const BENCH = path.join(import.meta.dirname, '../bench');

interface TurnBench {
  readonly midRun: (count: number) => Promise<Snapshot>;
  readonly timeTurn: (count: number) => Promise<number>;
}

const turn = (await import(path.join(BENCH, 'turn.js'))) as TurnBench;

it('the run that the bench makes up for a turn of decide is one that the program could have', async () => {
  const { state } = await turn.midRun(10);
  expect(runState.parse(state)).toEqual(state);
  expect(await turn.timeTurn(10)).toBeGreaterThan(0);
});

it('every part of the bench can be loaded, and those that use parts of the built program measure', async () => {
  for (const file of readdirSync(BENCH).filter((name) => name.endsWith('.js') && name !== 'run.js'))
    await import(path.join(BENCH, file));
  const args = [path.join(BENCH, 'run.js'), '--quick', '--json', 'startup', 'state'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ results: [{ name: 'startup' }, { name: 'state' }] });
});
