import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { searchEngine } from '../../src/engines/index.ts';
import { createEngineGate } from '../support/engine-gate.ts';
import type { Asked } from '../support/engine-gate.ts';
import { containersOf, mcpForTest, mcpOverHttp } from '../support/mcp.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildBunImage, buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const folder = (): string => mkdtempSync(path.join(tmpdir(), 'mahabharatha-mcp-image-'));
const isBunImage = ({ path: place }: Asked): boolean => place.startsWith('/images/bun-runner-base');

describe.skipIf(docker.why !== '')(`the image of run_code${whySkipped}`, () => {
  beforeAll(async () => {
    await buildSandboxImage();
    await buildBunImage();
  });

  it('Base image missing: it is built before execution, with progress for the client, and contains Bun', async () => {
    const place = folder();
    const gate = await createEngineGate(place);
    const asked: string[] = [];
    gate.hide((request) => {
      if (['/build', '/containers/create'].includes(request.path)) asked.push(request.path);
      return isBunImage(request) && !asked.includes('/build');
    });
    const mcp = await mcpForTest({ DOCKER_HOST: gate.host });
    const told: string[] = [];
    const onProgress = (message: string): void => void told.push(message);
    const first = mcp.call('run_code', { code: 'console.log(Bun.version)' }, { onProgress });
    // A client is answered while the image is made.
    expect((await mcp.client.listTools()).tools.length).toBeGreaterThan(0);
    expect((await first).structuredContent).toMatchObject({
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      exit_code: 0,
    });
    expect(asked.indexOf('/build')).toBeLessThan(asked.indexOf('/containers/create'));
    expect(told.join('\n')).toContain('Building the Bun image');
    expect(asked.filter((each) => each === '/build')).toHaveLength(1);
    await mcp.leave();
    gate.close();
    rmSync(place, { recursive: true, force: true });
  });

  it('an image that is removed while the server runs is built again', async () => {
    const place = folder();
    const gate = await createEngineGate(place);
    const mcp = await mcpForTest({ DOCKER_HOST: gate.host });
    await mcp.run('');
    let builds = 0;
    gate.hide((request) => {
      if (request.path === '/build') builds += 1;
      return isBunImage(request) && builds === 0;
    });
    const calls = ['a', 'b'].map((session) => mcp.run('console.log(1)', { session_id: session }));
    expect((await Promise.all(calls)).map(({ stdout }) => stdout)).toEqual(['1\n', '1\n']);
    expect(builds).toBe(1);
    await mcp.leave();
    gate.close();
    rmSync(place, { recursive: true, force: true });
  });

  it.each([['legacy'], [{ pin: '2026-07-28' }]] as const)('progress comes over HTTP, too (%j)', async (mode) => {
    const place = folder();
    const gate = await createEngineGate(place);
    const server = await mcpOverHttp({ DOCKER_HOST: gate.host });
    const { call } = await server.connect({ mode });
    let isBuilt = false;
    gate.hide((request) => {
      isBuilt ||= request.path === '/build';
      return isBunImage(request) && !isBuilt;
    });
    const told: string[] = [];
    const options = { onProgress: (message: string): void => void told.push(message) };
    expect((await call('run_code', { code: '' }, options)).structuredContent).toMatchObject({ exit_code: 0 });
    expect(told.join('\n')).toContain('Building the Bun image');
    expect(await server.end()).toBe(0);
    gate.close();
    rmSync(place, { recursive: true, force: true });
  });

  it('an image that cannot be built is the result of the call, which says what to do; the next call tries again', async () => {
    const mcp = await mcpForTest({ BUN_RUNNER_BASE: 'localhost:1/no-such-base:1' });
    for (const session of ['a', 'b']) {
      const told: string[] = [];
      const options = { onProgress: (message: string): void => void told.push(message) };
      const failed = await mcp.call('run_code', { code: '', session_id: session }, options);
      expect(failed).toMatchObject({ isError: true, structuredContent: { exit_code: 1 } });
      expect((failed.structuredContent as { error: string }).error).toContain('mahabharatha build --base-image');
      if (session === 'b') expect(told).toContain('Building the base image localhost:1/no-such-base:1');
    }
    expect(containersOf(mcp)).toEqual([]);
    await mcp.leave();
  });

  it('without an engine the client is served all the same, and its calls are once there is one', async () => {
    const place = folder();
    const socket = path.join(place, 'engine.sock');
    const mcp = await mcpForTest({ DOCKER_HOST: `unix://${socket}` });
    const refused = await mcp.call('run_code', { code: 'console.log(1)' });
    expect(refused).toMatchObject({ isError: true });
    expect((refused.structuredContent as { error: string }).error).toContain(socket);
    const { endpoint } = await searchEngine(process.env);
    if (endpoint?.kind !== 'socket') throw new Error('the engine of the tests has no socket');
    symlinkSync(endpoint.path, socket);
    expect((await mcp.run('console.log(1)')).stdout).toBe('1\n');
    await mcp.leave();
    rmSync(place, { recursive: true, force: true });
  });

  it('a client that closes while an image is built, or in the middle of a call, leaves nothing', async () => {
    const place = folder();
    const gate = await createEngineGate(place);
    gate.hide(isBunImage);
    const building = await mcpForTest({ DOCKER_HOST: gate.host });
    const waiting = building.run('').catch(() => undefined);
    await waitUntil('it builds', () => building.notes().includes('Building the Bun image'));
    const calling = await mcpForTest();
    await calling.run('');
    const running = calling.run('for (;;);', { timeout_ms: 600_000 }).catch(() => undefined);
    for (const each of [building, calling]) {
      const left = (): string[] => containersOf(each);
      await each.leave();
      expect(() => process.kill(each.pid, 0)).toThrow();
      expect(left()).toEqual([]);
    }
    await Promise.all([waiting, running]);
    gate.close();
    rmSync(place, { recursive: true, force: true });
  });
});
