import { describe, expect, it } from 'vitest';
import { createContainers } from '../../src/containers/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { createRunners, runtimeVolume } from '../../src/sandbox/index.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const LIMITS = { cpus: 0.5, memoryBytes: 256 * 1024 ** 2, diskBytes: 64 * 1024 ** 2, processes: 64 };
const shell = { image: docker.image, extension: '.sh', command: ['bash', '{filepath}'] };
const startSweeper = (): { close(): void } => ({ close: () => undefined });

const wish = (program: string) => ({ program, gone: new AbortController().signal });

describe.skipIf(docker.why !== '')(`the container of a language that nobody asks for${whySkipped}`, () => {
  const { engine } = docker;
  const labels = { 'mahabharatha.test': randomId() };
  const found = async (): Promise<string[]> => (await engine.listContainers(labels)).map(({ id }) => id);
  const newHome = async (): Promise<Parameters<typeof createRunners>[0]> => {
    const [tag, folder] = [await buildSandboxImage(), tempFolder()];
    const id = (await engine.inspectImage(tag))?.id ?? '';
    const own = { id: randomId(), kind: 'server', labels, leaseFolder: folder, egressLog: `${folder}/log` } as const;
    const containers = createContainers({ engine, egress: null, volumes: [], startSweeper });
    return { engine, owner: own, containers, runtime: await runtimeVolume(engine, { tag, id }) };
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
});
