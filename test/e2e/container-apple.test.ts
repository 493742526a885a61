import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { appleUser } from '../support/apple.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

describe.skipIf(docker.why !== '')(`a run on Apple's engine${whySkipped}`, () => {
  let project: ContainerProject;
  let user: string;
  beforeAll(buildWorkerImage);
  beforeEach(() => {
    user = mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-'));
  });
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
    rmSync(user, { recursive: true });
  });
  const prepare = async (container?: string): Promise<void> => {
    const env = appleUser(user);
    project = await createContainerProject({ env, ...(container === undefined ? {} : { container }) });
    await project.graph('login', [
      { id: 'A', level: 1, create: ['a.txt'], run: 'echo a > a.txt', verify: 'test -s a.txt' },
      { id: 'B', level: 2, create: ['b.txt'], run: 'cat a.txt > b.txt; id -u' },
    ]);
  };

  it('does its tasks, merges them and leaves nothing behind', async () => {
    await prepare();
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1');
    expect({ exit, said: exit === 0 ? '' : stdout + stderr }).toEqual({ exit: 0, said: '' });
    expect(project.git('show', 'mahabharatha/login/integration:b.txt')).toBe('a\n');
    expect((await project.state()).workers['0']?.mode).toBe('container');
  });

  it('is refused when it needs the proxy, and that says what to do', async () => {
    await prepare('network: allowlist');
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1');
    expect([exit, stdout + stderr]).toEqual([4, expect.stringContaining('set workers.container.network: none')]);
  });

  it('is examined by doctor, which says what the engine lacks', async () => {
    await prepare();
    const { stdout } = await project.cli('doctor');
    expect(stdout).toMatch(/apple 1\.2\.2 at .*\/container/);
    expect(stdout).toContain('it gives no container another name');
  });
});
