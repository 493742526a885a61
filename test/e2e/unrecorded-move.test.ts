import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { withChaos, expectBuilt, tracedTask, untilNothingIsLeft } from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import type { TestTask } from '../support/project.ts';

const BRANCH = 'mahabharatha/login/integration';

/** The git that has moved the integration branch for the n-th time kills the orchestrator, before it hears of that. */
async function killAtMove({ outside }: Chaos, nth: number): Promise<void> {
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/sh
case " $* " in *" update-ref "*)
  input=$(mktemp '${outside}/input-XXXXXX')
  cat > "$input"
  '${real}' "$@" < "$input"
  code=$?
  if grep -qa 'refs/heads/${BRANCH}' "$input"; then
    echo moved >> '${outside}/moves'
    if [ "$(wc -l < '${outside}/moves')" = ${nth} ]; then kill -9 $PPID; fi
  fi
  exit $code ;;
esac
exec '${real}' "$@"
`;
  await writeFile(path.join(outside, 'bin', 'git'), script);
}

const gate = (chaos: Chaos, command: string): Promise<void> =>
  chaos.project.config(
    `workers: { count: 2, lease: 3s }\nretry: { attempts: 1 }\ngates: [{ name: all, command: "${command}" }]\n`,
  );

const mendable = (chaos: Chaos): string => `test -e '${chaos.outside}/mended' && echo "made by A" > A.txt`;

/** Killed after the branch was moved to the work of B, the last task: the state does not have it yet. */
async function killedAfterMove(chaos: Chaos, tasks: readonly TestTask[]): Promise<void> {
  await gate(chaos, 'true');
  await chaos.project.graph('login', tasks);
  await killAtMove(chaos, 3);
  expect((await chaos.project.cli('kurukshetra')).signal).toBe('SIGKILL');
  await untilNothingIsLeft(chaos);
  const { integrationTip } = await chaos.project.state();
  expect(chaos.project.git('rev-parse', BRANCH).trim()).not.toBe(integrationTip);
  chaos.project.git('show', `${BRANCH}:B.txt`);
}

const resumed = (chaos: Chaos): ReturnType<Chaos['project']['cli']> => chaos.project.cli('kurukshetra', '--resume');

it('a branch that was moved just before a kill goes back, and gates that were edited since count', () =>
  withChaos(async (chaos) => {
    await killedAfterMove(chaos, [tracedTask(chaos, 'A', { level: 1 }), tracedTask(chaos, 'B', { level: 2 })]);
    await gate(chaos, '! test -e B.txt');
    const end = await resumed(chaos);
    expect([end.exit, end.stderr], end.stdout).toEqual([1, expect.not.stringContaining('moved by')]);
    expect((await chaos.project.state()).tasks['B']?.status).toBe('failed');
    expectSound(chaos.project, 'red gates after a kill');
    expect(chaos.project.git('ls-tree', '--name-only', BRANCH)).not.toContain('B.txt');
  }));

it('a branch that was moved just before a kill is no obstacle to a task that is added to an earlier level', () =>
  withChaos(async (chaos) => {
    const before = [tracedTask(chaos, 'A', { level: 1 }), tracedTask(chaos, 'B', { level: 2 })];
    await killedAfterMove(chaos, before);
    await chaos.project.graph('login', [...before, tracedTask(chaos, 'C', { level: 1 })]);
    await expectBuilt(chaos, await resumed(chaos), ['A', 'B', 'C']);
    expect(await chaos.timesRan('B')).toBe(1);
  }));

it('a branch that was moved just before a kill is no obstacle to a task of an earlier level that is tried again', () =>
  withChaos(async (chaos) => {
    const first = [tracedTask(chaos, 'A', { level: 1, run: mendable(chaos) }), tracedTask(chaos, 'C', { level: 1 })];
    await killedAfterMove(chaos, [...first, tracedTask(chaos, 'B', { level: 2 })]);
    await writeFile(path.join(chaos.outside, 'mended'), '');
    expect((await chaos.project.cli('retry', 'A')).exit).toBe(0);
    await expectBuilt(chaos, await resumed(chaos), ['A', 'C', 'B']);
    expect(await chaos.timesRan('B')).toBe(1);
  }));

it('a branch that a person has moved stays where it is, and the run says so', () =>
  withChaos(async (chaos) => {
    await killedAfterMove(chaos, [tracedTask(chaos, 'A', { level: 1 }), tracedTask(chaos, 'B', { level: 2 })]);
    const tip = chaos.project.git('rev-parse', BRANCH).trim();
    const own = chaos.project.git('commit-tree', '-p', tip, '-m', 'by hand', `${tip}^{tree}`).trim();
    chaos.project.git('update-ref', `refs/heads/${BRANCH}`, own);
    const end = await resumed(chaos);
    expect([end.exit, end.stderr]).toEqual([1, expect.stringContaining(`${BRANCH} was moved by someone else`)]);
    expect(chaos.project.git('rev-parse', BRANCH).trim()).toBe(own);
  }));
