import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bridgeAddress } from '../support/bridge.ts';
import { startHttpsOrigin } from '../support/https-origin.ts';
import type { HttpsOrigin } from '../support/https-origin.ts';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const hostOf = (origin: HttpsOrigin | undefined): string => new URL(origin?.url ?? '').host;

describe.skipIf(docker.why !== '')(`the network of a session${whySkipped}`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-origin-'));
  let served: Served;
  let [registry, listed, second, other]: HttpsOrigin[] = [];
  beforeAll(async () => {
    await buildWorkerImage();
    const start = (): Promise<HttpsOrigin> =>
      startHttpsOrigin(bridgeAddress(), mkdtempSync(path.join(folder, 'origin-')));
    [registry, listed, second, other] = [await start(), await start(), await start(), await start()];
    writeFileSync(path.join(folder, 'npmrc'), `registry=${registry.url}/npm/\n`);
    served = await serveForTest({
      config: `  network: { allow: [npm, github.com, "${hostOf(listed)}", "${hostOf(second)}"] }\n`,
      env: { npm_config_userconfig: path.join(folder, 'npmrc') },
    });
  });
  afterAll(async () => {
    expect(await served.end()).toBe(0);
    for (const origin of [registry, listed, second, other]) await origin?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const create = (network?: unknown): ReturnType<Served['ask']> =>
    served.ask('POST', '/v1/sessions', { project_id: 'p', runtime_type: 'shell', network });
  /** With what the machine's authorities are, and the test's. */
  const open = async (network?: unknown): Promise<string> => {
    const { status, body } = await create(network);
    expect(status, JSON.stringify(body)).toBe(200);
    const place = `/v1/sessions/${String(body['session_id'])}`;
    const authorities = [registry, listed, second, other].map((origin) =>
      readFileSync(origin?.authority ?? '', 'utf8'),
    );
    await served.ask('POST', `${place}/upload`, { files: [{ path: 'ca.pem', content: authorities.join('') }] });
    return place;
  };
  const exec = async (place: string, command: string): Promise<Record<string, unknown>> => {
    const ca = '/workspace/p/ca.pem';
    const env = { NODE_EXTRA_CA_CERTS: ca, GIT_SSL_CAINFO: ca };
    return (await served.ask('POST', `${place}/exec`, { command, env, timeout_s: 60 })).body;
  };
  const fetched = async (place: string, url: string): Promise<string> => {
    // A program that knows the proxy by its variables alone.
    const script = `const { request } = require('node:http'); const { connect } = require('node:tls'); const url = new URL('${url}');
      const fail = (error) => console.log('failed', error.message ?? error);
      if (!process.env.HTTPS_PROXY) { require('node:https').get(url, (r) => r.pipe(process.stdout)).on('error', fail); } else {
      const asked = request(process.env.HTTPS_PROXY, { method: 'CONNECT', path: url.host + (url.port ? '' : ':443') });
      asked.on('error', fail).on('response', (r) => fail(r.statusCode)).on('connect', (r, socket) => {
        if (r.statusCode !== 200) { console.log('refused', r.statusCode); return process.exit(); }
        connect({ socket, servername: '' }, function () { this.write('GET ' + url.pathname + ' HTTP/1.0\\r\\n\\r\\n'); this.pipe(process.stdout); }).on('error', fail);
      }).end(); }`;
    await served.ask('POST', `${place}/upload`, { files: [{ path: 'get.cjs', content: script }] });
    return String((await exec(place, 'node get.cjs 2>&1'))['stdout']);
  };

  it('is disabled by default: no host network, no address, no name, no raw socket, no way to the proxy', async () => {
    for (const network of [undefined, false]) {
      const place = await open(network);
      expect(await served.ask('GET', place)).toMatchObject({ body: { network: false } });
      expect(await fetched(place, `${listed?.url}/page`)).toMatch(/failed/);
      const probe = `ls /sys/class/net; env | grep -ic proxy; ls /run/mahabharatha/egress 2>&1; node -e "
        require('dns').promises.resolve4('github.com').catch((e) => console.log(e.code));
        require('net').connect(53, '1.1.1.1').on('error', (e) => console.log(e.code));
        require('net').connect(80, '169.254.169.254').on('error', (e) => console.log(e.code))"`;
      const { stdout } = await exec(place, probe);
      expect(stdout).toMatch(/^lo\n0\nls: cannot access/);
      expect(String(stdout).match(/ENETUNREACH|ECONNREFUSED|EAI_AGAIN/g)).toHaveLength(3);
      await served.ask('DELETE', place);
    }
  });

  it('leads, when enabled, to the domains of the allowlist alone', async () => {
    const place = await open(true);
    expect(await served.ask('GET', place)).toMatchObject({ body: { network: true } });
    expect(await fetched(place, `${listed?.url}/page`)).toMatch(/page\n$/);
    expect((await exec(place, `git clone --quiet ${listed?.url}/git/tiny.git g && cat g/README.md`))['stdout']).toBe(
      'from git\n',
    );
    expect(await fetched(place, `${other?.url}/page`)).toBe('refused 502\n');
    for (const url of [
      'https://169.254.169.254/latest',
      'https://127.0.0.1:2375/',
      'https://10.0.0.1/',
      'https://[::1]/',
    ])
      expect(await fetched(place, url), url).not.toMatch(/page/);
    const { stdout } = await exec(
      place,
      `ls /sys/class/net; node -e "
        require('dns').promises.resolve4('github.com').catch((e) => console.log(e.code));
        require('net').connect(${new URL(listed?.url ?? '').port}, '${bridgeAddress()}').on('error', (e) => console.log(e.code));
        const s = require('net').connect('/run/mahabharatha/egress/proxy.sock', () => s.write('worker 0 ' + 'a'.repeat(64) + '\\n'));
        s.on('close', () => console.log('closed')).on('error', () => undefined)"`,
    );
    expect(stdout).toMatch(/^lo\n/);
    expect(String(stdout).match(/ENETUNREACH|ECONNREFUSED|EAI_AGAIN|closed/g)).toHaveLength(3);
    expect(other?.asked).toEqual([]);
    await served.ask('DELETE', place);
  });

  it('is narrower for a session that names hosts', async () => {
    const place = await open([hostOf(second)]);
    expect(await fetched(place, `${second?.url}/page`)).toMatch(/page\n$/);
    expect(await fetched(place, `${listed?.url}/page`)).not.toMatch(/page\n$/);
    await served.ask('DELETE', place);
  });

  it('installs packages of npm from the registry of this machine', async () => {
    const place = await open(['npm']);
    const dependencies = { tiny: '1.0.0' };
    await served.ask('POST', `${place}/upload`, {
      files: [{ path: 'package.json', content: JSON.stringify({ name: 'x', dependencies }) }],
    });
    const { stdout, stderr } = await exec(place, `npm install --no-audit --no-fund && node -p "require('tiny')"`);
    expect(stdout, String(stderr)).toMatch(/from npm\n$/);
    expect(await fetched(place, `${listed?.url}/page`)).not.toMatch(/page\n$/);
    await served.ask('DELETE', place);
  });

  it.each([
    [['example.org'], 403],
    [['github.com', 'example.org'], 403],
    [['169.254.169.254:80'], 403],
    [['*'], 403],
    [['*.github.com'], 403],
    [['api.github.com'], 403],
    [['github.com:22'], 403],
    [['pypi'], 403],
    [['localhost:8000'], 403],
    [['github.com\nworker 1'], 403],
    [[], 400],
    ['all', 400],
    [[7], 400],
  ])('refuses %j with %i', async (network, status) => {
    const answer = await create(network);
    expect(answer).toMatchObject({ status, body: { detail: expect.any(String) } });
    if (status === 403) expect(answer.body['code']).toBe('NETWORK_REFUSED');
  });

  it('when enabled, leaves curl, wget, ssh and nc blocked', async () => {
    const place = await open(true);
    for (const command of ['curl https://github.com', 'wget x', 'ssh x', 'nc -l 1'])
      expect((await served.ask('POST', `${place}/exec`, { command })).status).toBe(403);
    await served.ask('DELETE', place);
  });
});
