import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { appleFolder } from '../../test/support/apple.ts';
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

const MAC = { platform: 'darwin', arch: 'arm64' } as const;

/** The environment of a user with Apple's program, and with settings. */
function withApple(settings = '', more: Record<string, string> = {}): Record<string, string> {
  const home = tempFolder();
  mkdirSync(path.join(home, '.config/mahabharatha'), { recursive: true });
  writeFileSync(path.join(home, '.config/mahabharatha/settings.yaml'), settings);
  return { HOME: home, PATH: `${appleFolder()}:${process.env['PATH']}`, ...more };
}

describe("Apple's engine", () => {
  it('is taken by itself on a Mac with Apple silicon', async () => {
    const env = withApple();
    const { engine, lines } = await searchEngine(env, MAC);
    expect(engine?.name).toBe('apple');
    expect(lines).toEqual([expect.stringMatching(/^Apple container: .*\/container: Apple container 1\.2\.2$/)]);
  });

  it.each([
    ['a Mac with an Intel processor', { platform: 'darwin', arch: 'x64' }],
    ['Linux', { platform: 'linux', arch: 'arm64' }],
  ] as const)('is not looked for on %s', async (_, machine) => {
    const { lines, engine } = await searchEngine(withApple('', { DOCKER_HOST: 'unix:///nowhere/x.sock' }), machine);
    expect([lines.join('\n'), engine]).toEqual([expect.not.stringContaining('Apple'), undefined]);
  });

  it('is taken everywhere when the user names it, and nothing else then', async () => {
    const place = await listen({ Version: '28.2.2', ApiVersion: '1.50' });
    const named = withApple('engine: apple\n', { DOCKER_HOST: `unix://${place}` });
    expect((await findEngine(named)).name).toBe('apple');
    const stopped = { ...named, APPLE_STOPPED: '1' };
    const message = expect.stringContaining('container system start');
    await expect(findEngine(stopped)).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE', message });
  });

  it('is not taken where the user names Docker, in the settings or with DOCKER_HOST', async () => {
    const place = await listen({ Version: '28.2.2', ApiVersion: '1.50' });
    const host = { DOCKER_HOST: `unix://${place}` };
    for (const settings of ['', 'engine: docker\n']) {
      expect((await searchEngine(withApple(settings, host), MAC)).engine?.name).toBe('docker');
    }
  });

  it('makes way for Docker when its services are not running, and that is said', async () => {
    const { lines, silent } = await searchEngine(withApple('', { APPLE_STOPPED: '1' }), MAC);
    expect(lines[0]).toContain('its services are not running; start them with: container system start');
    expect(lines.length).toBeGreaterThan(2);
    expect(silent[0]).toBe(lines[0]);
  });

  it('is not waited for when its program hangs', async () => {
    const { lines } = await searchEngine(withApple('engine: apple\n', { APPLE_HANG: 'system' }));
    expect(lines[0]).toMatch(/has not answered within 10 s/);
  });
});
