import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { waitFor } from '../support/project.ts';
import type { TestTask } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** Random, so that whatever looks like it is it. */
const KEY = `made-up-${randomUUID()}`;
/** Until the test lets it go on. */
const WAIT = 'touch /tmp/begun; until [ -e /tmp/go ]; do sleep 0.1; done';
/** Says whether it was given the key. */
const AGENT = `
if [ "$MAHABHARATHA_TASK" = A ]; then ${WAIT}; fi
[ "\${#MINE_KEY}" = ${KEY.length} ] && echo given > "$MAHABHARATHA_TASK.txt"`;

const asking = (id: string, rest: Partial<TestTask> = {}): TestTask => ({
  id,
  create: [`${id}.txt`],
  verify: 'test -z "$MINE_KEY"',
  ...rest,
});

describe.skipIf(docker.why !== '')(`the credentials of an agent in containers${whySkipped}`, () => {
  let project: ContainerProject;
  let live: ReturnType<ContainerProject['start']> | undefined;
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    project = await createContainerProject({ env: { MINE_KEY: KEY } });
    const agents = JSON.stringify({ mine: { command: ['bash', '-c', AGENT], env: ['MINE_KEY'] } });
    await project.config(`${await project.read('.mahabharatha/config.yaml')}agent: mine\nagents: ${agents}\n`);
  });
  afterEach(async () => {
    live?.child.kill();
    await live?.end;
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  /** The container in which the first task has begun. */
  const atWork = (): Promise<string> =>
    waitFor('the first task has begun', () => {
      if (live?.child.exitCode !== null) throw new Error(live?.output());
      const ids = project.containers().flatMap(({ Id, State }) => (State.Running ? [Id] : []));
      return ids.find((id) => inside(id, 'test', '-e', '/tmp/begun'));
    });

  it.skipIf(process.getuid?.() !== 0)(
    'are not in the memory of a worker before an attempt asks an agent, and then are given to it alone',
    async () => {
      await project.graph('login', [
        { id: 'R', level: 1, create: ['R.txt'], run: `${WAIT}; echo "\${MINE_KEY:-nothing}" > R.txt` },
        asking('B', { level: 2, dependencies: ['R'] }),
      ]);
      live = project.start('kurukshetra', '--workers', '1');
      const id = await atWork();
      const [worker = 0] = processesOf(id, '--outbox');
      // What every worker gets is found, so the credentials would be found too.
      expect([memoryHas(worker, '"checkedOut"'), memoryHas(worker, KEY)]).toEqual([true, false]);
      expect(goOn(id)).toBe(true);
      const { exit, stdout, stderr } = await live.end;
      expect(exit, stdout + stderr).toBe(0);
      expect(project.git('show', 'mahabharatha/login/integration:R.txt')).toBe('nothing\n');
      expect(project.git('show', 'mahabharatha/login/integration:B.txt')).toBe('given\n');
    },
  );

  it('do not reach a worker that a resumed run has taken over: it finishes its task, and a new worker does the next', async () => {
    await project.graph('login', [asking('A', { level: 1 }), asking('B', { level: 2, dependencies: ['A'] })]);
    live = project.start('kurukshetra', '--workers', '1');
    const id = await atWork();
    // Its grace does not run meanwhile, however long the resumed run takes to begin.
    execFileSync('docker', ['pause', id]);
    live.child.kill('SIGKILL');
    await live.end;
    live = project.start('kurukshetra', '--resume');
    await waitFor('the worker is taken over', async () =>
      (await project.events()).some(({ type }) => type === 'worker-kept'),
    );
    execFileSync('docker', ['unpause', id]);
    expect(goOn(id)).toBe(true);
    const { exit, stdout, stderr } = await live.end;
    expect(exit, stdout + stderr).toBe(0);
    const { tasks, workers } = await project.state();
    for (const task of ['A', 'B']) expect(tasks[task]?.attempts.map(({ outcome }) => outcome)).toEqual(['accepted']);
    expect(workers['0']?.containerId).not.toBe(id);
    const ends = (await project.events()).filter((event) => event.type === 'worker-exited');
    expect(ends[0]).toMatchObject({ cause: 'it has done its assignment' });
  });
});

const inside = (id: string, ...args: string[]): boolean =>
  spawnSync('docker', ['exec', id, ...args], { stdio: 'ignore' }).status === 0;

const goOn = (id: string): boolean => inside(id, 'touch', '/tmp/go');

/** Processes of a container, as the host numbers them, that have this among their arguments. */
function processesOf(id: string, argument: string): number[] {
  const table = execFileSync('docker', ['top', id, '-eo', 'pid,args'], { encoding: 'utf8' }).trim().split('\n');
  return table.filter((line) => line.includes(` ${argument} `) && !line.includes('worker-init')).map(Number.parseFloat);
}

/** Looks through all that a process can write. */
function memoryHas(pid: number, text: string): boolean {
  const wanted = [Buffer.from(text, 'latin1'), Buffer.from(text, 'utf16le')];
  const file = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8')
      .split('\n')
      .some((line) => {
        const [, from = '', to = '', rights = ''] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
        if (!rights.startsWith('rw')) return false;
        return wanted.some((each) => rangeHas(file, Number.parseInt(from, 16), Number.parseInt(to, 16), each));
      });
  } finally {
    closeSync(file);
  }
}

const BLOCK = 4 * 1024 * 1024;

function rangeHas(file: number, from: number, to: number, wanted: Buffer): boolean {
  const block = Buffer.alloc(BLOCK);
  for (let at = from; at < to; at += BLOCK - wanted.length) {
    try {
      const read = readSync(file, block, 0, Math.min(BLOCK, to - at), at);
      if (block.subarray(0, read).includes(wanted)) return true;
    } catch {
      return false;
    }
  }
  return false;
}
