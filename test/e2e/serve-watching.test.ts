import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { openSocket } from '../support/socket-client.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const SECRET = 'planted-secret-5f2c';

describe.skipIf(docker.why !== '')(`watching a server${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest({ config: '  log_level: debug\n' });
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const metrics = async (): Promise<string> => (await fetch(`${served.address}/metrics`)).text();
  const logged = (): Record<string, unknown>[] =>
    served
      .output()
      .split('\n')
      // The last line may still be on its way.
      .slice(0, -1)
      .filter((text) => text.startsWith('{"level"'))
      .map((text) => JSON.parse(text) as Record<string, unknown>);

  it('/metrics counts sessions, executions by kind and outcome, durations, queues and containers', async () => {
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'x', runtime_type: 'shell' });
    const place = `/v1/sessions/${String(body['session_id'])}`;
    await served.ask('POST', `${place}/exec`, { command: 'true' });
    await served.ask('POST', `${place}/exec`, { command: 'exit 3' });
    await served.ask('POST', `${place}/exec`, { command: 'sleep 60', timeout_s: 0.1 });
    await served.ask('POST', '/execute/shell', { code: 'echo x' });
    for (const language of ['cobol', 'perl', '%0A{}', '__proto__'])
      await served.ask('POST', `/execute/${language}`, { code: '' });
    const text = await metrics();
    for (const line of [
      'mahabharatha_sessions_open 1',
      'mahabharatha_containers{kind="session"} 1',
      'mahabharatha_containers{kind="language"} 2',
      'mahabharatha_programs_waiting{language="shell"} 0',
      'mahabharatha_executions_total{kind="session",outcome="ok"} 1',
      'mahabharatha_executions_total{kind="session",outcome="failed"} 1',
      'mahabharatha_executions_total{kind="session",outcome="timeout"} 1',
      'mahabharatha_executions_total{kind="shell",outcome="ok"} 1',
      'mahabharatha_execution_seconds_count{kind="session"} 3',
      'mahabharatha_execution_seconds_bucket{kind="session",le="+Inf"} 3',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/\nmahabharatha_event_loop_delay_seconds\{quantile="0.99"\} [\d.e-]+\n/);
    expect(text).toMatch(/\nprocess_resident_memory_bytes \d+\n/);
    expect(text).not.toMatch(/cobol|perl|proto/);
    // Every line is a comment, or a name, labels and a number.
    const wrong = text
      .split('\n')
      .filter(
        (line) => !/^($|# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [\d.e+-]+)$/.test(line),
      );
    expect(wrong).toEqual([]);
    await served.ask('DELETE', place);
    expect(await metrics()).toContain('mahabharatha_sessions_open 0\n');
  });

  it('logs containers, sessions, executions and requests with their time, and never a value of env or what else is sent', async () => {
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'seen', runtime_type: 'shell' });
    const session = String(body['session_id']);
    const place = `/v1/sessions/${session}`;
    const files = [{ path: 'a.txt', content: SECRET }];
    await served.ask('POST', `${place}/upload`, { files }, { authorization: `Bearer ${SECRET}` });
    await served.ask('POST', `${place}/exec`, { command: `echo ${SECRET} $X; cat a.txt`, env: { X: SECRET } });
    await served.ask('POST', `${place}/exec`, { command: `sudo ${SECRET}`, env: { X: SECRET } });
    await served.ask('POST', `${place}/exec`, { command: 5, env: { X: SECRET } });
    await served.ask('POST', `${place}/exec`, `{"command": "${SECRET}`);
    await served.ask('GET', `${place}/fs?path=${SECRET}`);
    await served.ask('GET', `/${SECRET}`);
    await served.ask('POST', '/execute/shell', { code: `echo ${SECRET}; ${SECRET}` });
    await served.ask('POST', `/execute/${SECRET}`, { code: '' });
    const client = await openSocket(served.address, session, { protocols: ['mahabharatha', `bearer.${SECRET}`] });
    client.send({ command: `echo ${SECRET}` });
    await client.next('exit');
    client.send(SECRET);
    await client.next('error');
    client.socket.close();
    await served.ask('DELETE', place);
    await waitUntil('the end is logged', () =>
      logged().some(({ event, session: of }) => event === 'session ended' && of === session),
    );
    expect(served.output()).not.toContain(SECRET);
    const events = logged();
    expect(events).toContainEqual(
      expect.objectContaining({
        event: 'session opened',
        session,
        project: 'seen',
        runtime: 'shell',
        ms: expect.any(Number),
      }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({
        event: 'executed',
        kind: 'session',
        session,
        outcome: 'ok',
        exit_code: 0,
        ms: expect.any(Number),
      }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'executed', kind: 'shell', outcome: 'failed', exit_code: 127 }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'container started', role: 'runner', image: docker.image }),
    );
    expect(events).toContainEqual(expect.objectContaining({ event: 'container stopped' }));
    expect(events).toContainEqual(
      expect.objectContaining({
        event: 'answered',
        level: 'debug',
        method: 'GET',
        route: '/v1/sessions/:id/fs',
        user: 'local',
      }),
    );
  });
});
