import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyImages, createSecondEngine, whyNoSecondEngine } from '../support/second-engine.ts';
import type { SecondEngine } from '../support/second-engine.ts';
import { serveForTest } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker } from '../support/worker-image.ts';

const why = docker.why === '' ? whyNoSecondEngine() : docker.why;

describe.skipIf(why !== '')(`an engine that goes away below a server${why === '' ? '' : ` (${why})`}`, () => {
  let engine: SecondEngine;
  beforeAll(async () => {
    // What the image was made from is part of its name.
    const tag = await buildSandboxImage();
    engine = createSecondEngine();
    await engine.start();
    await copyImages([tag, docker.image], engine);
    engine.docker('tag', tag, 'mahabharatha-sandbox:latest');
  });
  afterAll(() => engine.remove());

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'is HTTP 500 with the details of the error, and survived: sessions and languages work again (%s)',
    async (signal) => {
      const served = await serveForTest({ env: { DOCKER_HOST: engine.host } });
      const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'x', runtime_type: 'shell' });
      const exec = (command: string): ReturnType<typeof served.ask> =>
        served.ask('POST', `/v1/sessions/${String(body['session_id'])}/exec`, { command });
      expect((await exec('echo before')).body).toMatchObject({ stdout: 'before\n' });
      const busy = exec('sleep 600');
      await waitUntil('the command runs', async () => {
        const { body: facts } = await served.ask('GET', `/v1/sessions/${String(body['session_id'])}`);
        return facts['busy'] === true;
      });
      await engine.end(signal);
      expect((await busy).status).toBe(500);
      const refused = [await exec('echo during'), await served.ask('POST', '/execute/shell', { code: 'echo during' })];
      for (const { status, body: answer } of refused) {
        expect(status).toBe(500);
        expect(answer).toMatchObject({ code: 'ENGINE_UNREACHABLE', detail: expect.stringContaining('engine') });
      }
      expect(refused[1]?.body).toMatchObject({ stdout: '', stderr: '', exit_code: -1 });
      expect((await served.ask('GET', '/health')).body).toMatchObject({ status: 'degraded' });
      await engine.start();
      expect((await exec('echo after')).body).toMatchObject({ stdout: 'after\n', workspace_lost: true });
      expect((await served.ask('POST', '/execute/shell', { code: 'echo after' })).body).toMatchObject({
        stdout: 'after\n',
      });
      const left = (): string[] => engine.docker('ps', '-q').split('\n').filter(Boolean);
      await waitUntil('the containers of before are gone', () => left().length === 2);
      expect(await served.end()).toBe(0);
      expect(left()).toEqual([]);
    },
  );
});
