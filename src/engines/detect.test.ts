import http from 'node:http';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { findEngine, searchEngine } from './detect.ts';

/** An engine that can do no more than say which version it is. */
async function listen(version: object, afterMs = 0): Promise<string> {
  const place = path.join(tempFolder(), 'docker.sock');
  const server = http.createServer((request, response) => {
    response.statusCode = request.url?.startsWith('/version') === true ? 200 : 500;
    setTimeout(() => response.end(JSON.stringify(version)), afterMs);
  });
  await new Promise<void>((resolve) => server.listen(place, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return place;
}

const chosen = (place: string): Record<string, string> => ({ HOME: tempFolder(), DOCKER_HOST: `unix://${place}` });

describe('finding the engine', () => {
  it.each([
    ['Docker', 'Docker 28.2.2', []],
    ['Podman', 'Podman 28.2.2', [{ Name: 'Podman Engine' }]],
  ])('that answers: %s', async (_, words, Components) => {
    const place = await listen({ Version: '28.2.2', ApiVersion: '1.50', Components });
    const { engine, endpoint, lines } = await searchEngine(chosen(place));
    expect(engine?.name).toBe('docker');
    expect(endpoint).toEqual({ kind: 'socket', path: place });
    expect(lines).toEqual([`DOCKER_HOST: ${place}: ${words}`]);
    expect((await findEngine(chosen(place))).name).toBe('docker');
  });

  it('that answers after seconds, as on a busy machine', async () => {
    const place = await listen({ Version: '28.2.2', ApiVersion: '1.50', Components: [] }, 4000);
    expect((await searchEngine(chosen(place))).engine?.name).toBe('docker');
  });

  it('refuses one that is too old, and says so', async () => {
    const place = await listen({ Version: '18.09', ApiVersion: '1.39' });
    const message = expect.stringMatching(
      /DOCKER_HOST: .*Docker 18\.09 speaks version 1\.39 of the API; 1\.41 is needed/,
    );
    await expect(findEngine(chosen(place))).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE', message });
  });

  it('reports what was tried when there is none', async () => {
    const place = path.join(tempFolder(), 'none.sock');
    const tried = [`DOCKER_HOST: ${place}: there is no such socket`];
    const error = {
      code: 'ENGINE_UNREACHABLE',
      exit: 4,
      facts: { tried },
      hint: expect.stringContaining('Start Docker'),
    };
    await expect(findEngine(chosen(place))).rejects.toMatchObject(error);
  });
});
