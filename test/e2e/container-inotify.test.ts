import { execFileSync, spawnSync } from 'node:child_process';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { simpleTask } from '../support/project.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** inotify_init1 on x86_64 and arm64; says how many it got, and keeps them until it is killed. */
const TAKE_ALL = `perl -e '
  my $call = \`uname -m\` =~ /x86_64/ ? 294 : 26;
  my $count = 0;
  $count++ while $count < 10000 && syscall($call, 0) >= 0;
  $| = 1; print "taken $count: $!\\n";
  sleep 1 until -e "/tmp/enough";'`;

describe.skipIf(docker.why !== '')(`a task that takes all inotify instances of its user${whySkipped}`, () => {
  let project: ContainerProject;
  let live: ReturnType<ContainerProject['start']> | undefined;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    live?.child.kill();
    await live?.end;
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('stops no other worker and no start of one, and its own worker goes on too', async () => {
    project = await createContainerProject();
    await project.graph('login', [
      simpleTask('HOSTILE', { run: `${TAKE_ALL}; echo a > HOSTILE.txt` }),
      simpleTask('B', { run: 'echo begun; sleep 1; echo b > B.txt' }),
      simpleTask('C'),
    ]);
    live = project.start('kurukshetra', '--workers', '2');
    const logs = async (): Promise<string> => (await project.cli('logs')).stdout;
    await waitUntil('all are taken', async () => (await logs()).includes('Too many open files'));
    const hostile = project.containers().find(({ Id }) => holds(Id));
    await waitUntil('the others are done', async () => {
      const { tasks } = await project.state();
      return tasks['B']?.status === 'complete' && tasks['C']?.status === 'complete';
    });
    execFileSync('docker', ['exec', hostile?.Id ?? '', 'touch', '/tmp/enough']);
    const { exit, stdout, stderr } = await live.end;
    expect(exit, stdout + stderr).toBe(0);
    expect(project.git('ls-tree', '--name-only', 'mahabharatha/login/integration').trim().split('\n')).toEqual([
      'B.txt',
      'C.txt',
      'HOSTILE.txt',
      'README.md',
    ]);
  });
});

/** Is the hostile program in this container? One that is just made, or just gone, has none. */
function holds(id: string): boolean {
  return spawnSync('docker', ['top', id], { encoding: 'utf8' }).stdout.includes('perl');
}
