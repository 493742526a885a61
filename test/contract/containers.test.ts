import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createContainers, keepOutput, resumeOutput, tmpfs } from '../../src/containers/index.ts';
import type { Containers, ContainerWish, Egress, Owner, StartedContainer, Upkeep } from '../../src/containers/index.ts';
import { parseAllowlist } from '../../src/egress/rules/allowlist.ts';
import { proxyProgram } from '../../src/egress/rules/index.ts';
import { keepLease } from '../../src/lease/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { EGRESS_SOCKET, egressPreamble, INSIDE } from '../../src/protocol/index.ts';
import { bridgeAddress } from '../support/bridge.ts';
import { certify } from '../support/certificate.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const { engine } = docker;
const UID = 4711;
/** Random, so that whatever looks like it is it. */
const SECRET = `made-up-${randomUUID()}`;
const LEASE_MS = 60_000;
/** In the lease folder, which the proxy sees. */
const AUTHORITY = 'authority.pem';

/** An owner that is no run: what a server of sandboxes starts with. */
interface Server {
  readonly owner: Owner;
  readonly containers: Containers;
  /** Starts a plain command; its output is in the log. */
  run(shell: string, more?: Partial<ContainerWish>): Promise<{ container: StartedContainer; log: string }>;
  sweepers: number;
}

async function openServer(allow: readonly string[] | null, access: Egress['access'] = null): Promise<Server> {
  const folder = tempFolder();
  const [leaseFolder, work] = [path.join(folder, 'lease'), path.join(folder, 'work')];
  mkdirSync(work);
  const lease = await keepLease(path.join(leaseFolder, 'lease.json'), LEASE_MS);
  const owner: Owner = {
    id: `server-${randomId()}`,
    kind: 'server',
    labels: {},
    leaseFolder,
    egressLog: path.join(folder, 'egress.jsonl'),
  };
  const image = await workerImage();
  const containers = createContainers({
    engine,
    egress: allow === null ? null : { ...egressFor(allow, image, access !== null), access },
    volumes: [],
    startSweeper: () => {
      server.sweepers += 1;
      return { close: () => void (server.sweepers -= 1) };
    },
  });
  const run: Server['run'] = async (shell, more = {}) => {
    const log = path.join(folder, `${randomId()}.log`);
    const wish = wishFor(owner, { shell, image, log, work, client: allow === null ? null : 1, ...more });
    const { id, createdAt } = await containers.start(Promise.resolve(wish));
    return { container: { owner, id, createdAt, upkeep: wish.upkeep }, log };
  };
  const server: Server = { owner, containers, run, sweepers: 0 };
  onTestFinished(async () => {
    lease.close();
    await containers.sweep(owner.id);
  });
  return server;
}

async function workerImage(): Promise<string> {
  const info = await engine.inspectImage('mahabharatha-worker:latest');
  return info?.id ?? '';
}

function egressFor(allow: readonly string[], image: string, access: boolean): Omit<Egress, 'access'> {
  const { command, env } = proxyProgram(parseAllowlist(allow).rules, LEASE_MS, { access });
  const trusting = access ? { NODE_EXTRA_CA_CERTS: `${INSIDE.shared}/${AUTHORITY}` } : {};
  const program = Promise.resolve({ command, env: { ...env, ...trusting } });
  return { program, image, uid: UID, gid: UID, runtime: null };
}

type Asked = Partial<ContainerWish> &
  Pick<ContainerWish, 'image' | 'client'> & { shell: string; log: string; work: string };

function wishFor(owner: Owner, { shell, log, work, ...more }: Asked): ContainerWish {
  const upkeep: Upkeep = {
    disk: { folders: [work], bytes: 64 * 1024 ** 2, setting: 'sandbox.disk' },
    memoryBytes: 128 * 1024 ** 2,
    keep: (attachment) => keepOutput(attachment, { log }),
    resume: (id) => resumeOutput(engine, id, { log }),
    empty: async () => undefined,
  };
  return {
    owner,
    role: 'sandbox',
    session: randomId(),
    labels: {},
    names: [`mahabharatha-sandbox-${randomId()}`],
    command: ['bash', '-c', shell],
    env: {},
    uid: UID,
    gid: UID,
    workdir: '/',
    hostname: 'sandbox',
    mounts: [tmpfs('/tmp', 0o1777, { bytes: 16 * 1024 ** 2, uid: UID, gid: UID })],
    network: 'none',
    cpus: 1,
    pids: 50,
    runtime: null,
    memoryBytes: upkeep.memoryBytes,
    fileBytes: 64 * 1024 ** 2,
    firstLine: null,
    upkeep,
    ...more,
  };
}

const printed = (log: string): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');

/** The running egress proxies of an owner. */
function proxiesOf({ id }: Owner): string[] {
  const filter = ['--filter', `label=mahabharatha.owner=${id}`, '--filter', 'label=mahabharatha.role=egress'];
  const ids = execFileSync('docker', ['ps', '--quiet', '--no-trunc', ...filter], { encoding: 'utf8' });
  return ids.split('\n').filter((line) => line !== '');
}

/** What an owner has in the engine, by its label. */
function inEngine({ id }: Owner): string[] {
  const filter = ['--filter', `label=mahabharatha.owner=${id}`];
  const ask = (...args: string[]): string[] =>
    execFileSync('docker', [...args, ...filter], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  return [...ask('ps', '--all', '--quiet'), ...ask('volume', 'ls', '--quiet')];
}

describe.skipIf(docker.why !== '')(`an owner that is no run${whySkipped}`, () => {
  beforeAll(buildWorkerImage);

  it('runs a plain command locked down, without a network, and keeps its output', async () => {
    const server = await openServer(null);
    const probe =
      'id -u; touch /file || echo read-only; cat /proc/self/status | grep CapEff; ls /sys/class/net; exit 3';
    const { container, log } = await server.run(probe);
    expect(await server.containers.wait(container)).toEqual({ code: 3, signal: null });
    expect(printed(log).split('\n')).toEqual(
      expect.arrayContaining([String(UID), 'read-only', 'CapEff:\t0000000000000000', 'lo']),
    );
    expect(printed(log)).not.toContain('eth0');
  });

  it('gives the first line to its stdin, and ends with SIGTERM or, after the grace, with SIGKILL', async () => {
    const server = await openServer(null);
    const polite = await server.run('trap "exit 7" TERM; read line; echo "got $line"; sleep 600 & wait', {
      firstLine: async () => 'a word',
    });
    await waitUntil('the line has come', () => printed(polite.log).includes('got a word'));
    expect(await server.containers.stop(polite.container, 60_000)).toEqual({ code: 7, signal: null });
    const rude = await server.run('trap "" TERM; echo ready; while :; do sleep 1; done');
    await waitUntil('it runs', () => printed(rude.log).includes('ready'));
    expect(await server.containers.stop(rude.container, 100)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('is swept with everything of its own, and nothing of another owner', async () => {
    const [server, other] = [await openServer(null), await openServer(null)];
    await Promise.all([server.run('sleep 600'), server.run('sleep 600'), other.run('sleep 600')]);
    expect([inEngine(server.owner).length, inEngine(other.owner).length, server.sweepers]).toEqual([2, 1, 1]);
    expect(await server.containers.sweep(server.owner.id)).toBe(2);
    expect([inEngine(server.owner), inEngine(other.owner).length, server.sweepers]).toEqual([[], 1, 0]);
  });

  it('reaches through its egress proxy what is allowed, and nothing else; the proxy goes with the sweep', async () => {
    const origin = createServer((_, response) => response.end('from the host'));
    await new Promise<void>((resolve) => origin.listen(0, '0.0.0.0', resolve));
    onTestFinished(() => void origin.close());
    const { port } = origin.address() as AddressInfo;
    const allowed = `${bridgeAddress()}:${port}`;
    const server = await openServer([allowed]);
    const { container, log } = await server.run(
      `exec node -e '${CLIENT}' http://${allowed}/ http://${bridgeAddress()}:1/`,
      {
        firstLine: async ({ token }) => JSON.stringify(egressPreamble(1, token ?? '')),
      },
    );
    await server.containers.wait(container);
    expect(printed(log)).toContain(`http://${allowed}/ 200 from the host`);
    expect(printed(log)).toContain(`http://${bridgeAddress()}:1/ 403`);
    await server.containers.sweep(server.owner.id);
    expect(inEngine(server.owner)).toEqual([]);
    expect(printed(server.owner.egressLog)).toContain(bridgeAddress());
  });

  it('has its key in requests for the model, over TLS, also after its proxy was killed, and no other container sees it', async () => {
    const host = bridgeAddress();
    const { key, certificate, file } = certify(host, tempFolder());
    const seen: (readonly [string | undefined, unknown])[] = [];
    const model = createTlsServer({ key, cert: certificate }, ({ url, headers }, response) => {
      seen.push([url, headers['x-api-key']]);
      response.end('from the host');
    });
    await new Promise<void>((resolve) => model.listen(0, '0.0.0.0', resolve));
    onTestFinished(() => void model.close());
    const url = `https://${host}:${(model.address() as AddressInfo).port}`;
    const server = await openServer([], { version: 1, url, headers: { 'x-api-key': SECRET }, betas: [] });
    copyFileSync(file, path.join(server.owner.leaseFolder, AUTHORITY));
    const ask = async (): Promise<void> => {
      const { container, log } = await server.run(`exec node -e '${CLIENT}' /v1/models http://${host}/v1/models`, {
        firstLine: async ({ modelToken }) => JSON.stringify(egressPreamble(1, modelToken ?? '', { way: 'model' })),
      });
      await server.containers.wait(container);
      expect(printed(log)).toMatch(/^\/v1\/models 200 from the host\nhttp:\S+ 400 \n$/);
    };
    await ask();
    const [proxy = ''] = proxiesOf(server.owner);
    for (const args of [
      ['inspect', proxy],
      ['logs', proxy],
      ['top', proxy, '-eo', 'pid,args'],
    ])
      expect(execFileSync('docker', args, { encoding: 'utf8' })).not.toContain(SECRET);
    execFileSync('docker', ['kill', proxy]);
    await waitUntil('there is another proxy', () => proxiesOf(server.owner).some((id) => id !== proxy));
    await ask();
    expect(seen).toEqual([
      ['/v1/models', SECRET],
      ['/v1/models', SECRET],
    ]);
    expect(printed(server.owner.egressLog)).not.toContain(SECRET);
  });
});

/** Asks for each address or path through the proxy's socket, as a door does it; waits until the proxy is there. */
const CLIENT = `
const net = require("node:net");
const rl = require("node:readline").createInterface({ input: process.stdin });
const ask = (preamble, host) => new Promise((resolve) => {
  const socket = net.connect("${EGRESS_SOCKET}");
  let text = "";
  socket.on("connect", () => socket.write(preamble + "GET " + host + " HTTP/1.1\\r\\nHost: " + host + "\\r\\nConnection: close\\r\\n\\r\\n"));
  socket.on("data", (chunk) => (text += chunk));
  socket.on("error", () => setTimeout(() => resolve(ask(preamble, host)), 100));
  socket.on("close", () => text && resolve(text));
});
rl.once("line", async (line) => {
  for (const host of process.argv.slice(1)) {
    const text = await ask(JSON.parse(line), host);
    console.log(host, text.split(" ")[1], text.includes("from the host") ? "from the host" : "");
  }
  process.exit(0);
});
`.replaceAll('\n', ' ');
