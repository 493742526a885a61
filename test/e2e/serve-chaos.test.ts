import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/lib/index.ts';
import { SOAK } from '../support/chaos.ts';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

/** After the start: while it boots, while it begins to answer, and under load. */
const MOMENTS = SOAK ? Array.from({ length: 40 }, (_, index) => 50 + index * 60) : [150, 400, 600, 900, 1300, 2000];

function containersOf(home: string): string[] {
  const args = ['ps', '-aq', '--filter', `label=mahabharatha.servers=${home}/mahabharatha/servers`];
  return execFileSync('docker', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
}

/** Sessions that come, work and go, and programs beside them, until the server is gone. */
async function load(served: Served): Promise<void> {
  const session = async (): Promise<void> => {
    for (;;) {
      const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'chaos', runtime_type: 'shell' });
      const place = `/v1/sessions/${String(body['session_id'])}`;
      await served.ask('POST', `${place}/exec`, { command: 'echo hi; sleep 60 &' });
      await served.ask('DELETE', place);
    }
  };
  const program = async (): Promise<void> => {
    for (;;) await served.ask('POST', '/execute/shell', { code: 'echo hi; sleep 0.1' });
  };
  await Promise.allSettled([session(), session(), program(), program(), program()]);
}

describe.skipIf(docker.why !== '')(`a server that is killed at any moment${whySkipped}`, () => {
  beforeAll(buildSandboxImage);

  it.each(MOMENTS)('leaves nothing that lasts, and the next one works (after %s ms)', async (killedAfterMs) => {
    const home = mkdtempSync(path.join(tmpdir(), 'mahabharatha-served-'));
    const first = await serveForTest({ home, killedAfterMs }).catch(() => undefined);
    if (first !== undefined) {
      await load(first);
      await first.end('SIGKILL');
    }
    const second = await serveForTest({ home });
    await waitUntil('the containers of both languages alone are there', () => containersOf(home).length === 2);
    expect((await second.ask('GET', '/v1/sessions')).body).toEqual({ sessions: [] });
    const { body } = await second.ask('POST', '/v1/sessions', { project_id: 'next', runtime_type: 'shell' });
    expect(
      (await second.ask('POST', `/v1/sessions/${String(body['session_id'])}/exec`, { command: 'echo next' })).body,
    ).toMatchObject({ stdout: 'next\n' });
    expect((await second.ask('POST', '/execute/shell', { code: 'echo next' })).body).toMatchObject({
      stdout: 'next\n',
    });
    expect(await second.end()).toBe(0);
    expect(containersOf(home)).toEqual([]);
    await waitUntil(
      'no process of either is left',
      async () => (await findByEnvironment('XDG_STATE_HOME', home)).length === 0,
    );
    expect(existsSync(path.join(home, 'mahabharatha', 'servers'))).toBe(false);
    rmSync(home, { recursive: true, force: true });
  });
});
