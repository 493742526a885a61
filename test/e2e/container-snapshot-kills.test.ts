import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SOAK, delay, eventsSoFar, killIfThere, sees } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const MOMENTS = SOAK ? 60 : 6;
/** The stamp comes last: a set-up that was broken off has none. */
const SETUP = 'mkdir -p node_modules; sleep 0.7; cat /proc/sys/kernel/random/uuid > node_modules/stamp';
const STAMP = /^[0-9a-f-]{36}$/;

const dockerSays = (...args: string[]): string =>
  execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** One that is not running, or gone, is fine. */
function killContainer(id: string): void {
  spawnSync('docker', ['kill', id]);
}

describe.skipIf(docker.why !== '')(`a snapshot in the making${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    project = await createContainerProject({ workers: `setup: ${JSON.stringify(SETUP)}` });
    await project.write('.gitignore', 'node_modules/\n');
    await project.write('package-lock.json', '{ "version": 1 }\n');
    project.commit('a project that needs a set-up');
  });
  afterEach(() => project.remove());

  const home = (): string => project.env['HOME'] ?? '';
  const top = (): string => path.join(home(), '.local/state/mahabharatha/runs');
  const prepare = (feature: string): Promise<void> =>
    project.graph(
      feature,
      ['A', 'B'].map((id) => ({
        id,
        create: [`${id}.txt`],
        run: `cat node_modules/stamp > ${id}.txt`,
        verify: 'test -s node_modules/stamp',
      })),
    );
  const timeOf = (feature: string, type: string): number =>
    Date.parse(eventsSoFar(project, feature).find((event) => event.type === type)?.at ?? '');
  /** Volumes without a name, and mounts, that are of folders of this test. */
  function remains(): string[] {
    const names = dockerSays('volume', 'ls', '--quiet').split('\n').filter(Boolean);
    const volumes = names.filter((name) => {
      try {
        return dockerSays('volume', 'inspect', '--format', '{{json .Options}}', name).includes(home());
      } catch {
        return false;
      }
    });
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    return [...project.leftovers(), ...volumes, ...mounts.filter((line) => line.includes(home()))];
  }

  function expectWhole(moment: string): void {
    const own = readdirSync(path.join(top(), 'snapshots'));
    const [kept = '', ...others] = own.filter((name) => !name.startsWith('.'));
    expect(others, moment).toEqual([]);
    expect(own.filter((name) => name.startsWith('.')).toSorted(), moment).toEqual(['.engine', '.secret']);
    const stamp = readFileSync(path.join(top(), 'snapshots', kept, 'set-up/node_modules/stamp'), 'utf8').trim();
    expect(stamp, moment).toMatch(STAMP);
    expect(readdirSync(top()), moment).toEqual(['snapshots']);
    expect(remains(), moment).toEqual([]);
  }

  it('is never half used, and nothing of it is left, whenever all is killed', async () => {
    await prepare('whole');
    expect((await project.cli('kurukshetra', '--feature', 'whole', '--workers', '2')).exit).toBe(0);
    const wholeMs = timeOf('whole', 'snapshot-made') - timeOf('whole', 'worker-starting');
    for (let index = 0; index < MOMENTS; index += 1) {
      rmSync(path.join(top(), 'snapshots'), { recursive: true, force: true });
      const feature = `f${index}`;
      await prepare(feature);
      const live = project.start('kurukshetra', '--feature', feature, '--workers', '2');
      await sees(live, () => eventsSoFar(project, feature).some(({ type }) => type === 'worker-starting'));
      const waitMs = ((index + Math.random()) / MOMENTS) * wholeMs;
      await delay(waitMs);
      killIfThere(live.pid, 'SIGKILL');
      await live.end;
      const isEngineKilled = index % 2 === 1;
      if (isEngineKilled) for (const { Id } of project.containers()) killContainer(Id);
      const moment = `${Math.round(waitMs)} ms of ${wholeMs} ms after the start, containers killed: ${isEngineKilled}`;
      const { exit, stdout, stderr } = await project.cli('kurukshetra', '--feature', feature, '--resume');
      expect(exit, `${moment}\n${stdout}${stderr}`).toBe(0);
      const [a, b] = ['A', 'B'].map((id) =>
        project.git('show', `mahabharatha/${feature}/integration:${id}.txt`).trim(),
      );
      expect(a, moment).toMatch(STAMP);
      expect(b, moment).toBe(a);
      expectWhole(moment);
    }
  });
});
