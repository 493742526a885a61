import { describe, expect, it } from 'vitest';
import { createContainers } from '../../src/containers/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { createRunners, createSessions, runtimeKeeper, sessionCaches } from '../../src/sandbox/index.ts';
import { sessionNetwork } from '../../src/sandbox/network.ts';
import { createUsers } from '../../src/sandbox/users.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const LIMITS = { cpus: 0.5, memoryBytes: 256 * 1024 ** 2, diskBytes: 64 * 1024 ** 2, processes: 64 };
const shell = { image: docker.image, extension: '.sh', command: ['bash', '{filepath}'] };
const startSweeper = (): { close(): void } => ({ close: () => undefined });

const wish = (program: string) => ({ program, gone: new AbortController().signal });

const PROXY = { image: docker.image, uid: 1, gid: 1 };
const begin = async (): Promise<void> => undefined;
const onWarning = (): void => undefined;
const SHELL = { image: docker.image, setup: null, setupFiles: [], defaultCommand: 'true', needs: null };

describe.skipIf(docker.why !== '')(`the container of a language that nobody asks for${whySkipped}`, () => {
  const { engine } = docker;
  const labels = { 'mahabharatha.test': randomId() };
  const found = async (): Promise<string[]> => (await engine.listContainers(labels)).map(({ id }) => id);
  const newHome = async (ownId?: string): Promise<Parameters<typeof createRunners>[0]> => {
    const [tag, folder] = [await buildSandboxImage(), tempFolder()];
    const id = ownId ?? (await engine.inspectImage(tag))?.id ?? '';
    const own = { id: randomId(), kind: 'server', labels, leaseFolder: folder, egressLog: `${folder}/log` } as const;
    const containers = createContainers({ engine, egress: null, volumes: [], startSweeper });
    const runtime = runtimeKeeper(engine, { tag, id }, { folder, lacks: [] });
    return { engine, owner: own, containers, runtime, users: createUsers({ mapsUsers: false }) };
  };

  it('goes after its time, stays while a program runs in it, and is made anew', async () => {
    const home = await newHome();
    const settings = { languages: { shell }, limits: LIMITS, timeoutMs: 10_000, outputBytes: 1000 };
    const [patient, hasty] = [60_000, -1].map((idleMs) => createRunners(home, { ...settings, idleMs }));
    if (patient === undefined || hasty === undefined) throw new Error('no runners');
    await patient.boot(async () => undefined);
    await patient.expire();
    expect(await patient.states()).toEqual({ shell: 'running' });
    await patient.closeAll();

    const first = await hasty.run('shell', wish('echo 1'));
    const running = hasty.run('shell', wish('sleep 1; echo 2'));
    await hasty.expire();
    expect(await running).toMatchObject({ containerId: first.containerId, stdout: { text: '2\n' } });
    await hasty.expire();
    expect(await hasty.states()).toEqual({ shell: 'stopped' });
    expect(await found()).toEqual([]);
    const next = await hasty.run('shell', wish('echo 3'));
    expect(next).toMatchObject({ stdout: { text: '3\n' } });
    expect(next.containerId).not.toBe(first.containerId);
    await hasty.closeAll();
    expect(await found()).toEqual([]);
  });

  it('is made anew also when the volume with the agent was removed meanwhile', async () => {
    const id = randomId().slice(0, 16).padEnd(16, '0');
    const own = async (): Promise<string[]> =>
      (await engine.listVolumes({ 'mahabharatha.role': 'runtime' }))
        .map(({ name }) => name)
        .filter((name) => name.includes(id));
    const settings = { languages: { shell }, limits: LIMITS, timeoutMs: 10_000, outputBytes: 1000, idleMs: -1 };
    const runners = createRunners(await newHome(id), settings);
    await runners.run('shell', wish('true'));
    await runners.expire();
    for (const name of await own()) await engine.removeVolume(name);
    const ran = await Promise.all([1, 2].map((number) => runners.run('shell', wish(`echo ${number}`))));
    expect(ran.map(({ stdout }) => stdout.text)).toEqual(['1\n', '2\n']);
    expect(await own()).toHaveLength(2);
    await runners.closeAll();
    for (const name of await own()) await engine.removeVolume(name);
  });

  it('of a session that ends while it is made goes, and the session gives up what it has once', async () => {
    const home = await newHome();
    const image = await buildSandboxImage();
    const real = sessionCaches({ engine, folder: tempFolder(), labels, image, users: home.users });
    let released = 0;
    const caches: typeof real = {
      ...real,
      take: async (key) => {
        const cache = await real.take(key);
        return { ...cache, release: () => ((released += 1), cache.release()) };
      },
    };
    const settings = {
      runtimes: { shell: SHELL },
      limits: LIMITS,
      most: 9,
      ttlMs: -1,
      warm: 0,
      cacheBytes: 1e9,
    };
    const network = sessionNetwork({
      allow: [],
      env: {},
      folder: tempFolder(),
      leaseMs: 0,
      proxy: PROXY,
      begin,
      onWarning,
    });
    const sessions = createSessions({ home, network, caches, lacks: [] }, settings);
    const opening = sessions.create({ project: 'p', runtime: 'shell', network: null, cacheOf: 'anna' });
    const refused = expect(opening).rejects.toMatchObject({ code: 'SESSION_ENDED' });
    await waitUntil('it has its cache', () => sessions.list().some(({ hasCache }) => hasCache));
    await sessions.expire();
    await refused;
    expect([released, await found(), sessions.list()]).toEqual([1, [], []]);
    await sessions.closeAll();
    for (const { name } of await engine.listVolumes(labels)) await engine.removeVolume(name);
  });
});
