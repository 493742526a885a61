import { EventEmitter } from 'node:events';
import { createServer } from 'node:https';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { certify } from '../../../test/support/certificate.ts';
import { egressWorld, preambleOf, say, startOrigin, wire } from '../../../test/support/egress-world.ts';
import type { EgressWorld, Origin } from '../../../test/support/egress-world.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import type { ModelAccess } from '../../protocol/index.ts';

const KEY = 'sk-ant-made-up-0123456789';
const LAST = 'Connection: close\r\n';

interface World extends EgressWorld {
  readonly origin: Origin;
}

/** A model's server, and the way to it on which the key is added. */
async function world(rest: Partial<ModelAccess> = {}, answer?: RequestListener, path = ''): Promise<World> {
  const origin = await startOrigin(answer);
  const url = `http://127.0.0.1:${origin.port}${path}`;
  const access: ModelAccess = { version: 1, url, headers: { 'x-api-key': KEY }, betas: [], ...rest };
  return { ...(await egressWorld({ allow: [], access })), origin };
}

const post = (path: string, headers = '', body = '{}'): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${LAST}${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

/** The headers that the server has got, by name. */
const got = ({ origin }: World, index = 0): Record<string, string> => {
  const raw = origin.seen[index]?.raw ?? [];
  return Object.fromEntries(raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? '']] : [])));
};

describe('the way to the model', () => {
  it('adds the key, and nothing that the client says of itself, of the host or of another server gets through', async () => {
    const run = await world();
    const headers = [
      'X-Api-Key: placeholder',
      'x-api-key: another',
      'Authorization: Bearer mine',
      'Proxy-Authorization: Basic x',
      'Cookie: session=1',
      'X-Forwarded-Host: evil.test',
      'Forwarded: host=evil.test',
      'X-Original-URL: /v1/organizations',
      'X-HTTP-Method-Override: GET',
      'X-Stainless-Lang: js',
      'X-Claude-Code-Session-Id: 1',
      'anthropic-version: 2023-06-01',
      'Accept-Encoding: gzip',
      '',
    ].join('\r\n');
    const answer = await say(run.modelPort, post('/v1/messages?beta=true', headers, '{"a":1}'));
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*hello \/v1\/messages\?beta=true/);
    expect(run.origin.seen).toMatchObject([{ line: 'POST /v1/messages?beta=true', body: '{"a":1}' }]);
    expect(got(run)).toEqual({
      'x-stainless-lang': 'js',
      'x-claude-code-session-id': '1',
      'anthropic-version': '2023-06-01',
      'accept-encoding': 'identity',
      'x-api-key': KEY,
      host: `127.0.0.1:${run.origin.port}`,
      'content-length': '7',
      connection: 'close',
    });
    expect(run.told).toEqual([]);
  });

  it("keeps the path of the user's address, and the names of betas that a token needs", async () => {
    const token = { headers: { authorization: `Bearer ${KEY}` }, betas: ['oauth-1'] };
    const run = await world(token, undefined, '/gateway/');
    await say(run.modelPort, post('/v1/messages', 'anthropic-beta: a,oauth-1\r\nanthropic-beta: b\r\n'));
    await say(run.modelPort, post('/v1/messages/count_tokens'));
    expect(run.origin.seen.map(({ line }) => line)).toEqual([
      'POST /gateway/v1/messages',
      'POST /gateway/v1/messages/count_tokens',
    ]);
    expect([got(run), got(run, 1)]).toMatchObject([
      { authorization: `Bearer ${KEY}`, 'anthropic-beta': 'a,oauth-1,b' },
      { authorization: `Bearer ${KEY}`, 'anthropic-beta': 'oauth-1' },
    ]);
  });

  it.each([
    ['another server, as one asks a proxy', post('http://evil.test/v1/messages')],
    ['the same server, as one asks a proxy', post('http://127.0.0.1/v1/messages')],
    ['a path that is none', post('//evil.test/v1/messages')],
    ['a path that leads elsewhere', post('/v1/messages/../../api/oauth/claude_cli/create_api_key')],
    ['a folder above', 'GET /v1/models/.. HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a new key', post('/api/oauth/claude_cli/create_api_key')],
    ['what else the account has', 'GET /v1/messages/batches HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a path in disguise', post('/v1/messages%2f..%2fbatches')],
    ['a request for any server', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('does not lead to %s: the answer says why, and is none about credentials', async (_, request) => {
    const run = await world();
    const answer = await say(run.modelPort, request);
    expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n[^]*only the requests of Claude Code for its model/);
    expect([run.origin.seen, run.dialled]).toEqual([[], []]);
    expect(run.told).toHaveLength(1);
  });

  it('is no proxy: it opens no tunnel, and is not upgraded', async () => {
    const run = await world();
    const target = `127.0.0.1:${run.origin.port}`;
    expect(await say(run.modelPort, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /);
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    expect(await say(run.modelPort, post('/v1/messages', upgrade))).toContain('cannot be upgraded here');
    expect(run.origin.seen).toEqual([]);
  });

  it.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['chunks in disguise', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['a header folded into the next line', 'X-A: 1\r\n x-api-key: mine\r\nContent-Length: 2\r\n\r\n{}'],
  ])('takes no request with %s', async (_, rest) => {
    const run = await world();
    const answer = await say(run.modelPort, `POST /v1/messages HTTP/1.1\r\nHost: x\r\n${LAST}${rest}`);
    expect(answer).not.toContain('hello');
    expect(run.origin.seen.filter(({ body }) => body !== '(broken off)')).toEqual([]);
  });

  it('answers one request at a time: what is sent together with the first is not passed on', async () => {
    const run = await world();
    const two = post('/v1/messages').replace(LAST, '') + post('/v1/messages/count_tokens');
    expect((await say(run.modelPort, two)).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(run.origin.seen).toHaveLength(1);
  });

  it('passes an answer on as it comes, without the credentials that a server repeats in headers and body', async () => {
    const door = new EventEmitter();
    const run = await world({ headers: { authorization: `Bearer ${KEY}` } }, (_, response) => {
      response.writeHead(200, `Hello ${KEY}`, {
        'X-You-Said': `Bearer ${KEY}`,
        'Set-Cookie': 'session=1',
        'X-Api-Key': 'k',
        'X-Kept': 'y',
      });
      response.write(`event: one\n\nYour key is ${KEY}.\n\n${KEY.slice(0, 10)}`);
      door.once('open', () => response.end(`${KEY.slice(10)} and sk-ant-`));
    });
    const line = wire(run.modelPort, post('/v1/messages'));
    const early = await line.until('Your key is');
    expect(early).toContain(`Your key is ${'*'.repeat(KEY.length)}.`);
    door.emit('open');
    await line.closed;
    expect(line.text()).toMatch(/ and [^]*sk-ant-/);
    expect(line.text()).toMatch(/x-kept: y/i);
    expect(line.text()).not.toMatch(/cookie|x-api-key|0123456789/i);
  });

  it('passes a redirect on, and does not follow it', async () => {
    const run = await world({}, (_, response) => {
      response.writeHead(307, { Location: 'http://evil.test/v1/messages' }).end();
    });
    expect(await say(run.modelPort, post('/v1/messages'))).toMatch(/^HTTP\/1.1 307 /);
    expect(run.dialled).toEqual([`127.0.0.1:${run.origin.port}`]);
  });

  it('is for those alone who prove that they have an agent', async () => {
    const run = await world();
    const forged = preambleOf(3).replace('worker', 'model');
    expect(await say(run.socket, forged + post('/v1/messages'))).toBe('');
    // On the other way it is a request like any other.
    expect(await say(run.port, post(`http://127.0.0.1:${run.origin.port}/v1/messages`))).toContain(
      'not on the allowlist',
    );
    expect(run.origin.seen).toEqual([]);
  });

  it('is closed where the proxy has no credentials', async () => {
    const { modelPort } = await egressWorld({ allow: [] });
    expect(await say(modelPort, post('/v1/messages'))).toMatch(/^HTTP\/1.1 400 /);
  });

  it('gives the key to no server that does not prove its name', async () => {
    const { key, certificate } = certify('127.0.0.1', tempFolder());
    const seen: unknown[] = [];
    const server = createServer({ key, cert: certificate }, (request) => void seen.push(request.url));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const run = await world({ url: `https://127.0.0.1:${port}` });
    expect(await say(run.modelPort, post('/v1/messages'))).toMatch(/^HTTP\/1.1 502 [^]*self-signed certificate/);
    expect(seen).toEqual([]);
  });
});
