import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';
import {
  MOMENTS_TRIED,
  SOAK,
  atEach,
  expectBuilt,
  standardFeature,
  stateSoFar,
  untilNothingIsLeft,
} from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));

/** Calls that change what is on the disk: between two of them everything may end. */
const CALLS = ['mkdir', 'link', 'rename', 'unlink', 'fsync', 'write'] as const;

interface Point {
  /** A git command that writes, or all processes of the run, each of which counts for itself. */
  readonly who: 'all' | 'worktree' | 'update-ref' | 'commit-tree' | 'merge-tree';
  readonly call: string;
  readonly nth: number;
}

const ALL: Point[] = CALLS.flatMap((call) =>
  (SOAK ? [1, 2, 3, 5, 8, 13, 21, 34, 55] : []).map((nth) => ({ who: 'all' as const, call, nth })),
);
const GIT: Point[] = (['worktree', 'update-ref', 'commit-tree', 'merge-tree'] as const).flatMap((who) =>
  CALLS.flatMap((call) => (SOAK ? [1, 2, 3, 4, 5, 6, 8, 10] : []).map((nth) => ({ who, call, nth }))),
);
const SOME: Point[] = [
  { who: 'all', call: 'rename', nth: 6 },
  { who: 'all', call: 'fsync', nth: 3 },
  { who: 'worktree', call: 'mkdir', nth: 2 },
  { who: 'worktree', call: 'write', nth: 4 },
  { who: 'update-ref', call: 'rename', nth: 1 },
  { who: 'merge-tree', call: 'link', nth: 1 },
];
const POINTS = SOAK ? [...ALL, ...GIT] : SOME;

const there = hasStrace();
if (!there && process.env['CI'] === 'true') throw new Error('Tests that kill at system calls need strace.');

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const killAt = ({ call, nth }: Point): string[] => {
  const calls = `/^${call}`;
  return ['-qqq', '--output=/dev/null', `--trace=${calls}`, `--inject=${calls}:signal=KILL:when=${nth}`];
};

/** Stands before git on the PATH: the first command of this name is killed. */
async function plantGit({ outside }: Chaos, point: Point): Promise<void> {
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const strace = ['strace', ...killAt(point)].map((word) => `'${word}'`).join(' ');
  const script = `#!/bin/sh
case " $* " in *" ${point.who} "*)
  if mkdir '${outside}/killed' 2> /dev/null; then exec ${strace} '${real}' "$@"; fi ;;
esac
exec '${real}' "$@"
`;
  await writeFile(path.join(outside, 'bin', 'git'), script);
}

/** Starts a run that is killed, or some command of it; resolves when nothing of it lives. */
async function startKilled(chaos: Chaos, point: Point): Promise<void> {
  const { project } = chaos;
  if (point.who !== 'all') {
    await plantGit(chaos, point);
    await project.cli('kurukshetra');
    return untilNothingIsLeft(chaos);
  }
  const command = [
    ...killAt(point),
    '--follow-forks',
    process.execPath,
    PROGRAM,
    'kurukshetra',
    '--mode',
    'subprocess',
  ];
  const child = spawn('strace', command, { cwd: project.folder, env: project.env, stdio: 'ignore' });
  await once(child, 'close');
  if (stateSoFar(project) !== undefined) await untilNothingIsLeft(chaos);
}

describe.skipIf(!there)(`a run whose processes are killed at a system call (${MOMENTS_TRIED})`, () => {
  it('is resumed to its end, with nothing lost, doubled or left', async () => {
    await atEach(
      POINTS,
      ({ who, call, nth }) => `${who} killed at ${call} ${nth}`,
      async (chaos, point) => {
        const ids = await standardFeature(chaos, '3s');
        await startKilled(chaos, point);
        const known = stateSoFar(chaos.project) !== undefined;
        const end = await chaos.project.cli('kurukshetra', ...(known ? ['--resume'] : []));
        await expectBuilt(chaos, end, ids);
        expectSound(chaos.project, `${point.who} at ${point.call} ${point.nth}`);
      },
    );
  });
});
