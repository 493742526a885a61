import { mkdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { LogLine } from '../protocol/index.ts';
import { runPaths } from '../state/index.ts';
import type { RunState } from '../state/index.ts';
import { lookAtWork } from './work-now.ts';

const USAGE = { inputTokens: 5, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0 };

interface Written {
  /** Lines of the worker's log; a text is a line that is none of ours. */
  readonly log?: readonly (Partial<LogLine> | string)[];
  readonly session?: string;
  readonly attempt?: string | null;
}

/** What is seen of the one worker of this run. */
async function seen({ log = [], session = 's0', attempt = 'A.1' }: Written, change = (state: RunState) => state) {
  const folder = tempFolder();
  const paths = runPaths(path.join(folder, 'workers'), folder);
  const files = paths.worker(0);
  const at = '2026-01-01T00:00:00.000Z';
  const lines = log.map((line) =>
    typeof line === 'string'
      ? line
      : JSON.stringify({ at, worker: 0, task: 'A', attempt: 'A.1', source: 'agent', ...line }),
  );
  writeFileSync(files.log, lines.map((line) => `${line}\n`).join(''));
  mkdirSync(files.outbox, { recursive: true });
  const status = { version: 1, session, pid: 1, phase: 'running', attempt, beat: 1, at, usage: USAGE };
  writeFileSync(files.status, JSON.stringify({ ...status, result: null, setupFailure: null, trouble: null }));
  const world = createWorld([{ id: 'A' }], { workers: 1 });
  world.settle();
  return { files, look: () => lookAtWork({ paths } as never, change(world.state)) };
}

const says = async (...given: Parameters<typeof seen>): Promise<unknown> =>
  (await (await seen(...given)).look()).get(0);

it('a worker at work says the last lines of its agent, and what that has used', async () => {
  expect(await says({ log: [{ text: 'one' }, { text: 'Bash npm test' }] })).toEqual({
    work: 'A.1',
    says: ['one', 'Bash npm test'],
    usage: USAGE,
  });
});

it.each([
  ['of another attempt', { text: 'old', attempt: 'A.0' }],
  ['of the worker itself', { text: 'A begins', source: 'worker' }],
  ['that is no line of a log', 'node: out of memory'],
] as const)('a line %s is not what it does now', async (_, line) => {
  expect(await says({ log: [{ text: 'one' }, line] })).toMatchObject({ says: ['one'] });
});

const settingUp = (state: RunState): RunState => {
  const worker = state.workers[0];
  if (worker === undefined) throw new Error('no worker');
  return { ...state, workers: { 0: { ...worker, cause: 'its worktree is being set up' } } };
};

it('the lines of its set-up belong to no attempt', async () => {
  const log = [{ text: 'added 200 packages', source: 'setup', task: undefined, attempt: undefined }] as const;
  expect(await says({ log })).toMatchObject({ says: [] });
  expect(await says({ log }, settingUp)).toMatchObject({ says: ['added 200 packages'] });
});

it.each([
  ['another life of the worker', { session: 'another' }],
  ['another attempt', { attempt: 'A.0' }],
])('the usage of %s does not count', async (_, written) => {
  expect(await says(written)).toEqual({ work: 'A.1', says: [], usage: null });
});

it('a pipe in place of a log, or nothing at all, is looked at without waiting', async () => {
  const { files, look } = await seen({ log: ['x'] });
  execFileSync('rm', [files.log, files.status]);
  expect((await look()).get(0)).toEqual({ work: 'A.1', says: [], usage: null });
  execFileSync('mkfifo', [files.log]);
  expect((await look()).get(0)).toEqual({ work: 'A.1', says: [], usage: null });
});

it('a worker that has ended is not asked', async () => {
  const { look } = await seen({}, (state) => ({ ...state, workers: {} }));
  expect(await look()).toEqual(new Map());
});
