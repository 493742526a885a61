import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  MOMENTS_TRIED,
  SOAK,
  atEach,
  eventsSoFar,
  expectBuilt,
  standardFeature,
  stateSoFar,
  untilNothingIsLeft,
} from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import type { CliResult, TestProject } from '../support/project.ts';
import { STRACE } from '../support/strace.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));

/** Calls that change what is on the disk: between two of them everything may end. */
const CALLS = ['mkdir', 'link', 'rename', 'unlink', 'fsync', 'write'] as const;

interface Point {
  /**
   * The first git command of a name, the orchestrator alone, or all processes of the run. Each process counts for itself,
   * and each thread: the orchestrator has one for its files.
   */
  readonly who: 'all' | 'orchestrator' | 'worktree' | 'update-ref' | 'commit-tree' | 'merge-tree' | 'rev-list';
  readonly call: string;
  /** `3+` is the third and all after it. */
  readonly nth: number | `${number}+`;
  /** What happens then: the process is killed, or the call fails. */
  readonly what?: 'EIO' | 'ENOSPC' | 'EROFS' | 'EMFILE';
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
  { who: 'orchestrator', call: 'rename', nth: 5 },
  { who: 'orchestrator', call: 'fsync', nth: 13 },
  { who: 'worktree', call: 'mkdir', nth: 2 },
  { who: 'worktree', call: 'write', nth: 4 },
  { who: 'update-ref', call: 'rename', nth: 1 },
  { who: 'merge-tree', call: 'link', nth: 1 },
];
const ORCHESTRATOR: Point[] = CALLS.filter((call) => call !== 'write').flatMap((call) =>
  [1, 2, 3, 5, 8, 13, 21, 34, 55].map((nth) => ({ who: 'orchestrator' as const, call, nth })),
);
/** The end of a run removes files and folders one by one. */
const REMOVALS: Point[] = ['unlink', 'rmdir'].flatMap((call) =>
  Array.from({ length: 30 }, (_, index) => ({
    who: 'orchestrator' as const,
    call,
    nth: index + 1,
    what: 'EIO' as const,
  })),
);
/** A disk that is full or read-only from some moment on. */
const LASTING: Point[] = ['mkdir', 'rename', 'fsync', 'link'].flatMap((call) =>
  ([1, 3, 5, 8, 13, 21, 34] as const).flatMap((nth) =>
    (['ENOSPC', 'EROFS'] as const).map((what) => ({
      who: 'orchestrator' as const,
      call,
      nth: `${nth}+` as const,
      what,
    })),
  ),
);
const POINTS = SOAK ? [...ALL, ...ORCHESTRATOR, ...GIT] : SOME;

const FAILURES: Point[] = [
  ...ORCHESTRATOR.flatMap((point) => (['EIO', 'ENOSPC'] as const).map((what) => ({ ...point, what }))),
  ...REMOVALS,
  ...LASTING,
  ...[40, 60, 90, 130].map((nth) => ({ who: 'orchestrator' as const, call: 'openat', nth, what: 'EMFILE' as const })),
  ...(['worktree', 'update-ref', 'commit-tree', 'merge-tree', 'rev-list'] as const).flatMap((who) =>
    ['rename', 'link', 'fsync', 'mkdir'].flatMap((call) =>
      (['1+', 2] as const).flatMap((nth) =>
        (['EIO', 'ENOSPC', 'EROFS'] as const).map((what) => ({ who, call, nth, what })),
      ),
    ),
  ),
];
const SOME_FAILURES: Point[] = [
  { who: 'orchestrator', call: 'rename', nth: 3, what: 'EIO' },
  { who: 'orchestrator', call: 'fsync', nth: 8, what: 'ENOSPC' },
  { who: 'orchestrator', call: 'mkdir', nth: '5+', what: 'EROFS' },
  { who: 'orchestrator', call: 'link', nth: '5+', what: 'ENOSPC' },
  { who: 'orchestrator', call: 'unlink', nth: 13, what: 'EIO' },
  { who: 'orchestrator', call: 'openat', nth: 90, what: 'EMFILE' },
  { who: 'update-ref', call: 'rename', nth: '1+', what: 'EIO' },
  { who: 'commit-tree', call: 'fsync', nth: '1+', what: 'EIO' },
  { who: 'worktree', call: 'mkdir', nth: '1+', what: 'ENOSPC' },
];

const injected = ({ call, nth, what }: Point): string[] => {
  // What Node asks for by one name may be a call of another: fsync and fdatasync are one here.
  const calls = call === 'fsync' ? 'fsync,fdatasync' : `/^${call}`;
  const harm = what === undefined ? 'signal=KILL' : `error=${what}`;
  return ['-qqq', '--output=/dev/null', `--trace=${calls}`, `--inject=${calls}:${harm}:when=${nth}`];
};

/** Stands before git on the PATH: the first command of this name is harmed. */
async function plantGit({ outside }: Chaos, point: Point): Promise<void> {
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const strace = ['strace', ...injected(point)].map((word) => `'${word}'`).join(' ');
  const script = `#!/bin/sh
case " $* " in *" ${point.who} "*)
  if mkdir '${outside}/harmed' 2> /dev/null; then exec ${strace} '${real}' "$@"; fi ;;
esac
exec '${real}' "$@"
`;
  await writeFile(path.join(outside, 'bin', 'git'), script);
}

/** Starts a run that is harmed, or some command of it; resolves with its end. */
async function startHarmed(chaos: Chaos, point: Point): Promise<CliResult> {
  const { project } = chaos;
  if (point.who !== 'all' && point.who !== 'orchestrator') {
    await plantGit(chaos, point);
    return project.cli('kurukshetra');
  }
  const alone = point.who === 'orchestrator' ? ['--detach-on=execve'] : [];
  const run = [process.execPath, PROGRAM, 'kurukshetra', '--mode', 'subprocess', '--trust-config'];
  const child = spawn('strace', [...injected(point), '--follow-forks', ...alone, ...run], {
    cwd: project.folder,
    env: { ...project.env, UV_THREADPOOL_SIZE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (text: Buffer) => (printed.stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (printed.stderr += text.toString()));
  const [exit, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { exit, signal, ...printed };
}

const nameOf = ({ who, call, nth, what }: Point): string => `${who} ${what ?? 'killed'} at ${call} ${nth}`;

const lasts = ({ nth }: Point): boolean => String(nth).endsWith('+');

const saysThatItLeft = (project: TestProject): boolean =>
  eventsSoFar(project).some((event) => event.type === 'warning' && event.text.includes('--resume tries that again'));

async function goOn(chaos: Chaos, point: Point, ids: readonly string[]): Promise<void> {
  const known = stateSoFar(chaos.project) !== undefined;
  if (known) await untilNothingIsLeft(chaos);
  const end = await chaos.project.cli('kurukshetra', ...(known ? ['--resume'] : []));
  await expectBuilt(chaos, end, ids);
  expectSound(chaos.project, nameOf(point));
}

describe.skipIf(!STRACE)(`a run whose processes are killed at a system call (${MOMENTS_TRIED})`, () => {
  it('is resumed to its end, with nothing lost, doubled or left', async () => {
    await atEach(POINTS, nameOf, async (chaos, point) => {
      const ids = await standardFeature(chaos, '3s');
      await startHarmed(chaos, point);
      await goOn(chaos, point, ids);
    });
  });
});

describe.skipIf(!STRACE)(`a run in which a system call fails (${MOMENTS_TRIED})`, () => {
  it('comes to its end or stops in order, charges no task, and is resumed to its end', async () => {
    await atEach(SOAK ? FAILURES : SOME_FAILURES, nameOf, async (chaos, point) => {
      const { project } = chaos;
      const ids = await standardFeature(chaos, '3s');
      const end = await startHarmed(chaos, point);
      expect([0, 4], end.stderr).toContain(end.exit);
      expect(end.stderr, 'the reason is that of the disk').not.toContain('ENOENT');
      const failed = eventsSoFar(project).filter((event) => event.type === 'attempt-failed');
      expect(failed.filter(({ charge }) => charge === 'failure')).toEqual([]);
      if (end.exit === 0 && !(lasts(point) && saysThatItLeft(project))) return expectBuilt(chaos, end, ids);
      if (stateSoFar(project) !== undefined) expect(await project.processes()).toEqual([]);
      if (stateSoFar(project)?.status === 'stopped') expectSound(project, nameOf(point));
      await goOn(chaos, point, ids);
    });
  });
});
