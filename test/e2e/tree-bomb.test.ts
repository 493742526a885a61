import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** Files of holes: they take nothing on the worker's disk, their blob is small and one, and a checkout has them all. */
const sparse = (mebibytes: number, names: string): string => `truncate -s ${mebibytes}M ${names}`;

let project: TestProject;
afterEach(() => project.remove());

/** What a checkout of the integration branch would take. */
function checkoutMebibytes(): number {
  const sizes = project.git('ls-tree', '-r', '-l', 'mahabharatha/login/integration').split('\n');
  return sizes.reduce((sum, line) => sum + (Number(line.split(/\s+/)[3]) || 0), 0) / 1024 ** 2;
}

async function expectBounded(): Promise<void> {
  await project.graph('login', [
    simpleTask('INNOCENT'),
    { id: 'BOMB', create: ['b*.bin'], run: sparse(16, 'b{1..8}.bin') },
    { id: 'HALF', create: ['h*.bin'], run: sparse(10, 'h{1..4}.bin') },
    { id: 'OTHER', create: ['o*.bin'], run: sparse(10, 'o{1..4}.bin') },
    { id: 'LATER', create: ['l*.bin'], run: sparse(10, 'l{1..4}.bin'), level: 2 },
  ]);
  const { exit, stdout } = await project.cli('kurukshetra', '--workers', '3');
  expect(exit, stdout).toBe(1);
  const { tasks } = await project.state();
  expect(tasks['INNOCENT']).toMatchObject({ status: 'complete', merged: true });
  expect(tasks['BOMB']).toMatchObject({
    status: 'failed',
    attempts: [{ outcome: 'too-large' }],
    cause: expect.stringMatching(/would add 128 MiB to a checkout, and (64|63) MiB may be added.*: b1\.bin \(16 MiB\)/),
  });
  // Each of the three alone is below the limit; only one of them fits.
  const three = ['HALF', 'OTHER', 'LATER'].map((id) => tasks[id]);
  expect(three.filter((task) => task?.merged)).toHaveLength(1);
  for (const task of three.filter((task) => task?.status === 'failed'))
    expect(task).toMatchObject({ attempts: [{ outcome: 'too-large' }], cause: expect.stringContaining('80 MiB') });
  expect(checkoutMebibytes()).toBeLessThan(64);
}

const LIMITS = ['retry: { attempts: 1 }', 'workers:', '  container:', '    disk: 64m', ''].join('\n');

describe('a tree bomb, small in a bundle and large in a checkout', () => {
  it('is refused with its largest files, alone and as a sum of tasks', async () => {
    project = await createProject();
    await project.config(LIMITS);
    await expectBounded();
  });
});

describe.skipIf(docker.why !== '')(`a tree bomb from a container${whySkipped}`, () => {
  beforeAll(buildWorkerImage);

  it('is refused with its largest files, alone and as a sum of tasks', async () => {
    project = await createContainerProject({ container: 'network: none\ndisk: 64m' });
    await project.config(`${await project.read('.mahabharatha/config.yaml')}retry: { attempts: 1 }\n`);
    await expectBounded();
  });
});
