import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { simpleTask } from '../support/project.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** Loaded by every Node that obeys the image's NODE_OPTIONS; says in which program it runs. */
const PLANTED = "process.stdout.write(`planted code in ${process.argv[1] ?? 'node'}\\n`);";

const DOCKERFILE = [
  'FROM mahabharatha-worker',
  'USER root',
  'COPY docker/planted.cjs /planted.cjs',
  // A program of the repository in the place of the proxy's.
  'COPY docker/planted.cjs /opt/mahabharatha/egress.mjs',
  'ENV NODE_OPTIONS=--require=/planted.cjs LD_PRELOAD=/no/such.so SET_BY_IMAGE=yes PATH=/opt/more:$PATH',
  // Each would be a folder on the disk of the engine, which no limit counts.
  'RUN mkdir --mode=777 /kept',
  'VOLUME ["/kept", "relative", "/dev/pts", "/workspace", "/run"]',
  'ENTRYPOINT ["node", "/planted.cjs"]',
].join('\n');

describe.skipIf(docker.why !== '')(`a repository's own image with variables that programs obey${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    project = await createContainerProject({ container: 'network: allowlist\nallow: [example.org]' });
    await project.write('.mahabharatha/Dockerfile', `${DOCKERFILE}\n`);
    await project.write('.mahabharatha/docker/planted.cjs', PLANTED);
    const built = await project.cli('build', '--base-image', docker.image);
    expect(built.exit, built.stderr).toBe(0);
  });
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('reaches its tasks, but neither the egress proxy nor the worker program', async () => {
    const said = 'node -e 1; echo "$SET_BY_IMAGE $PATH"; curl --silent http://refused.test/';
    await project.graph('login', [
      simpleTask('A', { create: ['a.txt'], run: `{ ${said}; } > a.txt 2> /tmp/errors; sleep 2` }),
    ]);
    const live = project.start('kurukshetra', '--workers', '1');
    let proxy: ReturnType<ContainerProject['containers']>[number] | undefined;
    while (proxy === undefined && live.child.exitCode === null) {
      proxy = project.containers().find(({ Config }) => Config.Labels['mahabharatha.role'] === 'egress');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { exit, stdout, stderr } = await live.end;
    expect(exit, stdout + stderr).toBe(0);

    const done = project.git('show', 'mahabharatha/login/integration:a.txt');
    expect(done).toMatch(/planted code in node\nyes \/opt\/more:/);
    expect(done, 'the proxy works').toContain('Mahabharatha refused refused.test:80');
    const logs = '.mahabharatha/logs/login';
    expect(await project.read(`${logs}/worker-0.jsonl`)).not.toContain('planted code');
    expect(await project.read(`${logs}/egress.jsonl`)).not.toContain('planted code');
    expect(proxy?.Config.Image, 'a name could be given to another image').toBe(proxy?.Image);
    expect(namesOf(proxy?.Image ?? '')).toContain('mahabharatha-worker:');
    expect(namesOf(proxy?.Image ?? '')).not.toContain('mahabharatha-repository:');
    const set = proxy?.Config.Env.filter((variable) => variable.includes('='));
    expect(set?.map((variable) => variable.split('=')[0]).toSorted()).toEqual([
      'MAHABHARATHA_EGRESS',
      'MAHABHARATHA_EGRESS_KEY',
      // Ours, and not that of the image.
      'PATH',
      'UV_THREADPOOL_SIZE',
    ]);
  });

  it('gives its tasks no folder to write on the disk of the engine', async () => {
    const look = 'echo x > /kept/x; echo x > /relative/x; stat --file-system --format %T /kept /relative /run';
    const stay = 'until test -e /run/mahabharatha/inbox/go; do sleep 0.05; done';
    await project.graph('login', [
      simpleTask('A', {
        create: ['a.txt'],
        run: `{ ${look}; } > a.txt; touch /run/mahabharatha/outbox/here; ${stay}`,
      }),
    ]);
    const live = project.start('kurukshetra', '--workers', '1');
    await waitUntil('the task has looked', async () => {
      if (live.child.exitCode !== null) throw new Error(live.output());
      return existsSync(project.inWorkers('login', '0', 'outbox', 'here'));
    });
    const worker = project.containers().find(({ Config }) => Config.Labels['mahabharatha.role'] === 'worker');
    const written = worker?.Mounts.filter(({ RW, Type }) => RW && Type === 'volume').map(
      ({ Destination }) => Destination,
    );
    await writeFile(project.inWorkers('login', '0', 'inbox', 'go'), '');
    const { exit, stdout, stderr } = await live.end;

    expect(exit, stdout + stderr).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:a.txt')).toBe('tmpfs\n'.repeat(3));
    // Of a relative one the engine makes a volume all the same, and mounts it nowhere.
    expect(written?.filter((folder) => folder.startsWith('/'))).toEqual(['/dev/pts']);
  });
});

function namesOf(image: string): string {
  return execFileSync('docker', ['image', 'inspect', '--format', '{{.RepoTags}}', image], { encoding: 'utf8' });
}
