import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  MOMENTS_TRIED,
  SOAK,
  atEach,
  delay,
  killIfThere,
  seededRandom,
  stateSoFar,
  tracedTask,
} from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import type { CliResult, TestTask } from '../support/project.ts';

const SEEDS = Array.from({ length: SOAK ? 40 : 2 }, (_, index) => index + 1);
const DISTURBED_STARTS = 6;
const LEASE_MS = 4000;

type Random = () => number;

/** A and D fail until they are mended; E needs D. C and E write below a folder that the base has. */
function feature(chaos: Chaos): TestTask[] {
  const mended = `test -e '${chaos.outside}/mended' &&`;
  const fails = (id: string): string => `${mended} echo "made by ${id}" > ${id}.txt`;
  const inFolder = (id: string, level: number, rest: Partial<TestTask> = {}): TestTask =>
    tracedTask(chaos, id, {
      level,
      create: [`deep/er/${id}.txt`],
      run: `sleep 0.2; echo ${id} > deep/er/${id}.txt`,
      verify: 'true',
      ...rest,
    });
  return [
    tracedTask(chaos, 'A', { level: 1, run: fails('A') }),
    tracedTask(chaos, 'B', { level: 1, seconds: 0.3 }),
    inFolder('C', 1),
    tracedTask(chaos, 'D', { level: 2, run: fails('D') }),
    inFolder('E', 2),
    tracedTask(chaos, 'F', { level: 2, seconds: 0.4 }),
    tracedTask(chaos, 'G', { level: 3, dependencies: ['D'] }),
  ];
}

async function prepare(chaos: Chaos): Promise<void> {
  const { project } = chaos;
  await project.write('deep/er/base.txt', 'base\n');
  await project.write('.gitignore', '.mahabharatha/\n');
  project.commit('a folder that tasks write into');
  await project.config(
    `workers: { count: 3, lease: ${LEASE_MS}ms }\nretry: { attempts: 1 }\ngates: [{ name: base, command: "sleep 0.1; test -f deep/er/base.txt" }]\n`,
  );
  await project.graph('login', feature(chaos));
}

/** What other people and programs do beside a run. */
const DISTURBANCES: Readonly<Record<string, (chaos: Chaos, pid: number, random: Random) => Promise<void>>> = {
  'kill -9': async (_, pid) => killIfThere(pid, 'SIGKILL'),
  interrupt: async (_, pid) => killIfThere(pid, 'SIGINT'),
  'freeze all': async (chaos, pid, random) => {
    const pids = [pid, ...(await chaos.project.processes().catch(() => []))];
    for (const one of pids) killIfThere(one, 'SIGSTOP');
    await delay(LEASE_MS * (1 + 2 * random()));
    for (const one of pids) killIfThere(one, 'SIGCONT');
  },
  gc: async (chaos) => beside(chaos, ['git', 'gc', '--quiet', '--prune=now']),
  prune: async (chaos) => beside(chaos, ['git', 'prune', '--expire=now']),
  retry: async (chaos) => {
    await mend(chaos);
    for (const task of failedTasks(chaos)) await chaos.project.cli('retry', task);
  },
};

function beside({ project }: Chaos, [command = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: project.folder, env: project.env, stdio: 'ignore' });
  return new Promise((resolve) => child.once('close', () => resolve()));
}

const mend = (chaos: Chaos): Promise<void> => writeFile(path.join(chaos.outside, 'mended'), '');

const failedTasks = ({ project }: Chaos): string[] =>
  Object.entries(stateSoFar(project)?.tasks ?? {}).flatMap(([id, task]) => (task.status === 'failed' ? [id] : []));

/** One start or resume, with one or two disturbances while it runs. Returns what was done, for the message. */
async function disturbedStart(chaos: Chaos, random: Random): Promise<{ done: string; end: CliResult }> {
  const known = stateSoFar(chaos.project) !== undefined;
  const live = chaos.project.start('kurukshetra', ...(known ? ['--resume'] : []));
  const names = Object.keys(DISTURBANCES);
  const chosen = Array.from(
    { length: 1 + Math.round(random()) },
    () => names[Math.floor(random() * names.length)] ?? '',
  );
  for (const name of chosen) {
    await delay(200 + 3000 * random() ** 2);
    await DISTURBANCES[name]?.(chaos, live.pid, random);
  }
  return { done: chosen.join(' and '), end: await live.end };
}

describe(`a run beside kills, freezes, stops, retries, gc and prune (${MOMENTS_TRIED})`, () => {
  it('never reports lost work as done, and completes when the disturbances end', async () => {
    await atEach(
      SEEDS,
      (seed) => `seed ${seed}`,
      async (chaos, seed) => {
        const random = seededRandom(seed * 7919);
        await prepare(chaos);
        const story: string[] = [];
        for (let start = 0; start < DISTURBED_STARTS; start += 1) {
          const { done, end } = await disturbedStart(chaos, random);
          story.push(`${done} → ${end.exit ?? end.signal}`);
          if (end.exit !== null && stateSoFar(chaos.project) !== undefined)
            expectSound(chaos.project, story.join('; '));
          if (end.exit === 0) break;
        }
        await mend(chaos);
        for (const task of failedTasks(chaos)) await chaos.project.cli('retry', task);
        const known = stateSoFar(chaos.project);
        const end = await chaos.project.cli('kurukshetra', ...(known === undefined ? [] : ['--resume']));
        expect(end.exit, `${story.join('; ')}\n${end.stdout}\n${end.stderr}`).toBe(0);
        expectSound(chaos.project, story.join('; '));
        expect(chaos.project.git('show', 'mahabharatha/login/integration:deep/er/base.txt')).toBe('base\n');
      },
    );
  });
});
