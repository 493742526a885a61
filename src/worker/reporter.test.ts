import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { createRedactor } from '../logs/index.ts';
import { TEXT_LIMIT, workerStatus } from '../protocol/index.ts';
import type { TaskResult, WorkerStatus } from '../protocol/index.ts';
import { startReporter } from './reporter.ts';

const FIRST: WorkerStatus = {
  version: 1,
  session: 'verified',
  pid: 12_345_678,
  phase: 'starting',
  attempt: null,
  beat: 0,
  at: '',
  usage: null,
  result: null,
  setupFailure: null,
  trouble: null,
};

const RESULT: TaskResult = {
  kind: 'task',
  attempt: 'T-1/1',
  outcome: 'verified',
  detail: 'it printed "made-up-key"',
  feedback: '12345678'.repeat(TEXT_LIMIT / 8),
  commit: null,
  usage: null,
  resetAt: null,
};

async function written(change: Partial<WorkerStatus>, secrets: readonly string[]): Promise<WorkerStatus> {
  const file = path.join(tempFolder(), 'status.json');
  const reporter = startReporter(file, FIRST, 60_000, createRedactor(secrets));
  await reporter.update(change);
  reporter.close();
  return workerStatus.parse(JSON.parse(readFileSync(file, 'utf8')));
}

describe('the status of a worker', () => {
  it('holds no secret in any of its texts', async () => {
    const gates = { name: 'made-up-key', ok: false, required: true, detail: 'made-up-key', durationMs: 1 };
    const status = await written(
      {
        setupFailure: 'no made-up-key',
        trouble: 'no made-up-key',
        result: { kind: 'gate', attempt: 'g', gates: [{ ...gates, output: 'made-up-key' }], error: 'made-up-key' },
      },
      ['made-up-key'],
    );
    expect(JSON.stringify(status)).not.toContain('made-up-key');
    expect([status.setupFailure, status.trouble]).toEqual(['no [redacted]', 'no [redacted]']);
  });

  it('can be read whatever the secrets are: only texts are redacted, and none becomes longer', async () => {
    const { result, session, pid } = await written({ result: RESULT }, ['verified', '12345678', 'made-up-key']);
    expect([session, pid]).toEqual(['verified', 12_345_678]);
    expect(result).toMatchObject({ outcome: 'verified', detail: 'it printed "[redacted]"' });
    expect(result?.kind === 'task' && result.feedback).toMatch(/^(\[redacted\])+$/);
  });
});
