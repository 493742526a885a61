import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildOpenImage } from '../support/open-image.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const OUTBOX = '/run/mahabharatha/outbox';
const MIB = 1024 ** 2;

/** Nothing of this may ever run where a limit would not stop it: not on this machine, and not as its root. */
const bomb = (id: string, command: string): { id: string; create: string[]; run: string } => ({
  id,
  create: [`${id}.txt`],
  run: `test -e /.dockerenv && test "$(id -u)" -ne 0 && test "$HOME" = /home/worker || exit 99; ${command}`,
});

const big = (place: string): string => `head -c 150000000 /dev/urandom > ${place}/big; sleep 60`;

const flood = (bytes: number, to: string): string => `head -c ${bytes} /dev/zero | tr '\\0' 'x' | fold -w 999 > ${to}`;

const innocent = (id: string, seconds: number): { id: string; create: string[]; run: string } => ({
  id,
  create: [`${id}.txt`],
  run: `sleep ${seconds}; echo ${id} > ${id}.txt`,
});

describe.skipIf(docker.why !== '')(`a task that uses up a resource${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  const open = async (limits: string): Promise<void> => {
    project = await createContainerProject({ container: `network: none\n${limits}`, workers: 'lease: 60s' });
    await project.config(`${await project.read('.mahabharatha/config.yaml')}retry: { attempts: 1 }\n`);
  };
  /** Runs the tasks, of which the innocent are done and merged; returns why the others failed. */
  const run = async (
    tasks: readonly { id: string; create: string[]; run: string }[],
  ): Promise<Record<string, string>> => {
    await project.graph('login', tasks);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '3');
    expect(exit, stdout).toBe(1);
    const { tasks: ends } = await project.state();
    expect(ends['INNOCENT']).toMatchObject({ status: 'complete', merged: true, losses: 0, failures: 0 });
    expect(project.git('show', 'mahabharatha/login/integration:INNOCENT.txt')).toBe('INNOCENT\n');
    const failed = Object.entries(ends).filter(([id]) => id !== 'INNOCENT');
    expect(failed.map(([, { attempts }]) => attempts.length)).toEqual(failed.map(() => 1));
    return Object.fromEntries(failed.map(([id, { cause }]) => [id, cause ?? '']));
  };

  it('(processes, memory, folders in memory) fails, and the others finish', async () => {
    await open('memory: 192m\npids: 64\ntmpfs: 32m');
    const causes = await run([
      innocent('INNOCENT', 2),
      bomb('PROCESSES', ':(){ :|:& };:; sleep 1; false'),
      bomb('MEMORY', `node -e 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))'`),
      bomb(
        'FORKED',
        `for _ in {1..3}; do node -e 'const all = []; for (;;) all.push(Buffer.alloc(1e6, 1))' & done; for job in $(jobs -p); do wait $job || exit 1; done`,
      ),
      bomb('TMPFS', 'head -c 99000000 /dev/zero > /tmp/big && touch TMPFS.txt'),
    ]);
    expect(causes).toEqual({
      PROCESSES: expect.stringContaining("the worker's limit of 64 (workers.container.pids) was reached"),
      MEMORY: expect.stringContaining("the worker's memory of 192 MiB was used up"),
      FORKED: expect.stringContaining('memory of 192'),
      TMPFS: expect.stringContaining('exit status 1'),
    });
  });

  it('(the disk) fails with its size and its limit, and the others finish', async () => {
    await open('disk: 64m');
    const causes = await run([
      innocent('INNOCENT', 2),
      bomb('WORKTREE', big('.')),
      bomb('GITDIR', big('/gitdir/objects')),
      bomb('OUTBOX', big(OUTBOX)),
      // Nothing of it is on the disk, and it is larger than that all the same.
      bomb('HOLES', 'truncate -s 100M big'),
      bomb('FILES', 'mkdir d; cd d; touch {1..9}{0..9}{0..9}{0..9}{0..9}; sleep 60'),
    ]);
    const tooMuch =
      /killed: its folders hold \d+(\.\d)? MiB on the disk, the limit is 64 MiB \(workers\.container\.disk\)/;
    expect(causes).toEqual({
      WORKTREE: expect.stringMatching(tooMuch),
      GITDIR: expect.stringMatching(tooMuch),
      OUTBOX: expect.stringMatching(tooMuch),
      HOLES: expect.stringContaining(
        "a file was made larger than the worker's disk of 64 MiB (workers.container.disk)",
      ),
      FILES: expect.stringMatching(
        /killed: its folders hold \d{5} files, the limit is 16384: one for each 4 KiB of 64 MiB/,
      ),
    });
  });

  it('(the log) meets limits, here and in the engine, and all tasks go on', async () => {
    await open('cpus: 1');
    onTestFinished(await buildOpenImage(project));
    await project.graph('login', [
      innocent('INNOCENT', 4),
      bomb('STDOUT', `${flood(40e6, '/dev/stdout')}; touch STDOUT.txt`),
      bomb('AROUND', `${flood(50e6, '/proc/1/fd/1')}; ${flood(50e6, '/proc/1/fd/2')}; touch AROUND.txt`),
    ]);
    const live = project.start('kurukshetra', '--workers', '3');
    let over = false;
    let most = 0;
    void live.end.then(() => (over = true));
    await waitUntil('the run is over', () => {
      for (const { LogPath } of project.containers()) most = Math.max(most, sizeOf(LogPath));
      return over;
    });
    const { exit, stdout } = await live.end;
    expect(exit, stdout).toBe(0);
    expect(
      (await project.events()).filter(({ type }) => type === 'worker-exited' || type === 'attempt-failed'),
    ).toEqual(['0', '1', '2'].map(() => expect.objectContaining({ type: 'worker-exited', expected: true })));
    const kept = [0, 1, 2].map((worker) =>
      sizeOf(path.join(project.folder, `.mahabharatha/logs/login/worker-${worker}.jsonl`)),
    );
    expect(Math.max(...kept)).toBeGreaterThan(16 * MIB);
    expect(Math.max(...kept)).toBeLessThanOrEqual(64 * MIB);
    // Who is not root cannot see them.
    if (process.getuid?.() === 0) expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(25 * MIB);
  });
});

/** With the file before it. */
function sizeOf(log: string): number {
  const files = [log, `${log}.1`].filter((file) => existsSync(file));
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}
