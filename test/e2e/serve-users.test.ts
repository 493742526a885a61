import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { openSocket } from '../support/socket-client.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const TOKENS = { anna: 'anna-0123456789abcdef', ben: 'ben-0123456789abcdef', cleo: 'cleo-0123456789abcdef' };
type User = keyof typeof TOKENS;
const bearer = (user: User) => ({ authorization: `Bearer ${TOKENS[user]}` });

function tokenFile(): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'mahabharatha-tokens-')), 'tokens');
  const lines = Object.entries(TOKENS).map(([user, token]) => `${user} ${token}\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  return file;
}

describe.skipIf(docker.why !== '')(`users of a server${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    const config = '  limits: { user_requests: 60, project_requests: 20 }\n';
    served = await serveForTest({ args: ['--token-file', tokenFile()], config });
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const ask = (user: User, method: string, place: string, body?: unknown) =>
    served.ask(method, place, body, bearer(user));
  const open = async (user: User, project = 'x'): Promise<string> => {
    const { body } = await ask(user, 'POST', '/v1/sessions', { project_id: project, runtime_type: 'shell' });
    return String(body['session_id']);
  };

  it('a session is its opener’s alone: to all others it does not exist', async () => {
    const session = await open('anna');
    const place = `/v1/sessions/${session}`;
    expect(await ask('ben', 'GET', '/v1/sessions')).toMatchObject({ body: { sessions: [] } });
    expect(await ask('anna', 'GET', '/v1/sessions')).toMatchObject({ body: { sessions: [{ session_id: session }] } });
    const [unknown, others] = [
      await ask('ben', 'GET', '/v1/sessions/session_00000000'),
      await ask('ben', 'GET', place),
    ];
    expect([others.status, JSON.stringify(others.body).replaceAll(session, 'session_00000000')]).toEqual([
      404,
      JSON.stringify(unknown.body),
    ]);
    expect((await ask('ben', 'POST', `${place}/exec`, { command: 'true' })).status).toBe(404);
    expect((await ask('ben', 'POST', `${place}/kill`)).status).toBe(404);
    expect((await ask('ben', 'POST', `${place}/upload`, { files: [] })).status).toBe(404);
    expect((await ask('ben', 'GET', `${place}/fs?path=x`)).status).toBe(404);
    expect((await ask('ben', 'DELETE', place)).status).toBe(404);
    await expect(openSocket(served.address, session, { headers: bearer('ben') })).rejects.toThrow('refused: 404');
    await expect(openSocket(served.address, session)).rejects.toThrow('refused: 401');
    const protocols = ['mahabharatha', `bearer.${TOKENS.anna}`];
    const client = await openSocket(served.address, session, { protocols });
    client.send({ command: 'echo own' });
    await client.next('exit');
    expect(client.text('stdout')).toBe('own\n');
    expect((await ask('anna', 'DELETE', place)).status).toBe(200);
    client.send({ command: 'true' });
    expect(await client.next('error')).toMatchObject({ code: 'SESSION_UNKNOWN' });
    client.socket.close();
  });

  it('rate limit per project: too many requests to its sessions get 429, and other projects and users go on', async () => {
    const [full, other] = [await open('ben', 'full'), await open('ben', 'other')];
    const statuses: number[] = [];
    // More than the limit where it takes long: each second a part of it comes back.
    while (statuses.at(-1) !== 429 && statuses.length < 500)
      statuses.push((await ask('ben', 'GET', `/v1/sessions/${full}`)).status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(19);
    expect(statuses).toContain(429);
    expect((await ask('ben', 'GET', `/v1/sessions/${other}`)).status).toBe(200);
    const client = await openSocket(served.address, other, { headers: bearer('ben') });
    for (let sent = 0; sent < 40; sent += 1) client.send({ type: 'kill' });
    expect(await client.next('error')).toMatchObject({ code: 'RATE_LIMITED' });
    client.socket.close();
  });

  it('rate limit per user: too many requests get 429 with the seconds to wait, whatever the headers say', async () => {
    const answers: Awaited<ReturnType<Served['ask']>>[] = [];
    for (let asked = 0; asked < 2000 && answers.at(-1)?.status !== 429; asked += 1) {
      const address = `10.0.${asked >> 8}.${asked & 255}`;
      const spoofed = {
        'x-forwarded-for': address,
        'x-real-ip': address,
        forwarded: `for=${address}`,
        'x-user': address,
      };
      answers.push(await served.ask('GET', '/v1/sessions', undefined, { ...bearer('cleo'), ...spoofed }));
    }
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.length).toBeGreaterThan(60);
    expect(refused).toHaveLength(1);
    expect(refused[0]!.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(refused[0]!.body).toMatchObject({ code: 'RATE_LIMITED', detail: expect.stringContaining('cleo') });
    expect((await ask('anna', 'GET', '/v1/sessions')).status).toBe(200);
    // A guess of a token uses up nobody's requests, and those who watch the server are not counted.
    expect((await served.ask('GET', '/v1/sessions', undefined, { authorization: 'Bearer cleo' })).status).toBe(401);
    expect((await ask('cleo', 'GET', '/health')).status).toBe(200);
  });
});
