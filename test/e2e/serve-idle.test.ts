import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { openLog, openServer } from '../../src/http/index.ts';
import type { OpenServer } from '../../src/http/index.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const MINUTE = 60_000;
const nothing = (): void => undefined;

/** The server runs in this process, so that its timers can be called and its clock be put forward. */
describe.skipIf(docker.why !== '')(`what is idle on a server${whySkipped}`, () => {
  const home = mkdtempSync(path.join(tmpdir(), 'mahabharatha-served-'));
  const looks: { readonly ms: number; readonly look: () => void }[] = [];
  const logged: Record<string, unknown>[] = [];
  const [realTimeout, realNow, realDate] = [setTimeout, performance.now.bind(performance), Date.now];
  let aheadMs = 0;
  const watchTimers = (): void => {
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((call: () => void, ms: number) => {
      // That of `repeat`.
      if (!/ again .*clock/.test(new Error('for its stack').stack ?? '')) return realTimeout(call, ms);
      looks.push({ ms, look: call });
      return realTimeout(() => undefined, 0);
    }) as typeof setTimeout);
  };
  let server: OpenServer;
  beforeAll(async () => {
    const tag = await buildSandboxImage();
    const { id = '' } = (await docker.engine.inspectImage(tag)) ?? {};
    const { serve } = await loadConfig(path.join(home, 'no-such-config.yaml'));
    const runtime = { image: docker.image, default_command: 'true' };
    const log = openLog('debug', { write: (text) => logged.push(JSON.parse(text) as Record<string, unknown>) });
    watchTimers();
    server = await openServer({
      engine: docker.engine,
      runtimeImage: { tag, id },
      settings: {
        ...serve,
        port: 0,
        limits: { ...serve.limits, warm: 0 },
        runtimes: { node: runtime, python: runtime, shell: runtime },
        languages: { shell: { image: docker.image, extension: '.sh', command: ['bash', '{filepath}'] } },
      },
      tokens: null,
      version: '1.0.0',
      env: { ...process.env, XDG_STATE_HOME: home },
      onNote: nothing,
      onProblem: nothing,
      onPull: nothing,
      log,
      signal: new AbortController().signal,
    });
  });
  // Before each test the mocks of the one before are gone.
  beforeEach(() => {
    watchTimers();
    goOn(0);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await server.close();
    expect(containers()).toEqual([]);
    rmSync(home, { recursive: true, force: true });
  });

  const containers = (role = ''): string[] => {
    const label = `label=mahabharatha.servers=${home}/mahabharatha/servers`;
    const more = role === '' ? [] : ['--filter', `label=mahabharatha.role=${role}`];
    return execFileSync('docker', ['ps', '-aq', '--no-trunc', '--filter', label, ...more], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  };
  const ask = async (method: string, place: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${server.address}${place}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return { http: response.status, ...((await response.json()) as object) };
  };
  const run = (code: string): Promise<Record<string, unknown>> => ask('POST', '/execute/shell', { code });
  const goOn = (minutes: number): void => {
    aheadMs += minutes * MINUTE;
    vi.spyOn(performance, 'now').mockImplementation(() => realNow() + aheadMs);
  };
  /** Calls the timer that looks so often, and waits until it has looked and was set again. */
  const look = async (ms: number, event: string): Promise<void> => {
    const [set, told] = [looks.length, logged.filter((line) => line['event'] === event).length];
    looks.findLast((timer) => timer.ms === ms)?.look();
    await waitUntil('it was set again', () => looks.length > set);
    expect(logged.filter((line) => line['event'] === event)).toHaveLength(told + 1);
    expect(looks.at(-1)?.ms).toBe(ms);
  };
  const lookForRunners = (): Promise<void> => look(5 * MINUTE, 'looked for idle containers of languages');
  const lookForSessions = (): Promise<void> => look(30_000, 'looked for idle sessions');

  it('a look every 5 minutes kills and removes a container that was idle for more than 30 minutes, and the next request makes it anew', async () => {
    const before = realDate() / 1000;
    const first = await run('echo 1');
    const [id = ''] = containers('runner');
    goOn(29);
    await lookForRunners();
    expect(containers('runner')).toEqual([id]);
    // Each request counts as use.
    expect(await run('echo 2')).toMatchObject({ stdout: '2\n', container_id: first['container_id'] });
    goOn(29);
    await lookForRunners();
    expect(containers('runner')).toEqual([id]);
    expect(await ask('GET', '/health')).toMatchObject({ status: 'ok', containers: { shell: 'running' } });
    goOn(2);
    await lookForRunners();
    expect(containers('runner')).toEqual([]);
    expect(await ask('GET', '/health')).toMatchObject({
      http: 200,
      status: 'degraded',
      containers: { shell: 'stopped' },
    });
    // Without a grace: the engine was asked for no other signal.
    const args = ['events', '--since', `${before}`, '--until', `${realDate() / 1000}`, '--filter', `container=${id}`];
    const events = execFileSync('docker', [...args, '--format', '{{.Action}} {{.Actor.Attributes.signal}}'], {
      encoding: 'utf8',
    });
    expect(events).toContain('destroy');
    expect((events.match(/^kill .*$/gm) ?? []).filter((kill) => kill !== 'kill 9')).toEqual([]);
    expect(await run('echo 3')).toMatchObject({ stdout: '3\n' });
    expect(containers('runner')).toHaveLength(1);
    expect(containers('runner')).not.toEqual([id]);
  });

  it('a session that is idle for 30 minutes is ended with its container, and one whose command runs is not', async () => {
    const open = async (): Promise<string> =>
      String((await ask('POST', '/v1/sessions', { project_id: 'p', runtime_type: 'shell' }))['session_id']);
    const [idle, busy] = [await open(), await open()];
    const place = `/v1/sessions/${busy}`;
    const running = ask('POST', `${place}/exec`, { command: 'sleep 600' });
    await waitUntil('it runs', async () => (await ask('GET', place))['busy'] === true);
    goOn(29);
    await lookForSessions();
    expect(containers('session')).toHaveLength(2);
    goOn(2);
    await lookForSessions();
    expect(containers('session')).toHaveLength(1);
    expect(await ask('GET', `/v1/sessions/${idle}`)).toMatchObject({ http: 404 });
    expect(await ask('GET', place)).toMatchObject({ http: 200, busy: true });
    expect(logged).toContainEqual(expect.objectContaining({ event: 'session ended', session: idle, why: 'idle' }));
    await ask('POST', `${place}/kill`);
    expect(await running).toMatchObject({ killed: true });
    await lookForSessions();
    expect(await ask('GET', place)).toMatchObject({ http: 200 });
    await ask('DELETE', place);
  });

  it('a clock of the machine that is set forward ends no session', async () => {
    const { session_id: session } = await ask('POST', '/v1/sessions', { project_id: 'p', runtime_type: 'shell' });
    vi.spyOn(Date, 'now').mockImplementation(() => realDate() + 60 * MINUTE);
    await lookForSessions();
    expect(await ask('GET', `/v1/sessions/${String(session)}`)).toMatchObject({ http: 200 });
    await ask('DELETE', `/v1/sessions/${String(session)}`);
  });
});
