import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProject, simpleTask, waitFor } from '../support/project.ts';
import type { CliResult, TestProject } from '../support/project.ts';

const STREAMS = fileURLToPath(new URL('../testdata/claude-streams', import.meta.url));
const INTEGRATION = 'mahabharatha/login/integration';

let project: TestProject;

beforeEach(async () => {
  // As root Claude Code works only with IS_SANDBOX set.
  project = await createProject({ env: { IS_SANDBOX: '1' } });
});
afterEach(() => project.remove());

/** A Claude Code that does its task for less than a cent; in the named calls it costs five dollars first, and does not end. */
async function dearClaude(...dear: readonly string[]): Promise<string> {
  const parts = (await readFile(path.join(STREAMS, 'parts.jsonl'), 'utf8')).split('\n');
  const first = parts.slice(0, parts.findIndex((line) => line.includes('"message_delta"')) + 1);
  const streamed = `${first.join('\n').replaceAll('"input_tokens":100,', '"input_tokens":1000000,')}\n`;
  await writeFile(path.join(project.outside, 'dear'), streamed);
  await writeFile(path.join(project.outside, 'cheap'), await readFile(path.join(STREAMS, 'success.jsonl')));
  for (const call of dear) await writeFile(path.join(project.outside, `dear-${call}`), '');
  const program = path.join(project.outside, 'claude');
  const text = `#!/bin/bash
call=$MAHABHARATHA_TASK-$(($(ls "$OUTSIDE" | grep -c "^call-$MAHABHARATHA_TASK-") + 1))
cat > "$OUTSIDE/call-$call"
echo done > "$MAHABHARATHA_TASK.txt"
if [ -e "$OUTSIDE/dear-$call" ]; then cat "$OUTSIDE/dear"; exec sleep 600; fi
cat "$OUTSIDE/cheap"
`;
  await writeFile(program, text, { mode: 0o755 });
  return `claude: { command: "${program}" }\n`;
}

const calls = async (task: string): Promise<number> =>
  (await readdir(project.outside)).filter((file) => file.startsWith(`call-${task}-`)).length;

/** The sum in state and events, and as it is shown. */
async function sums(run: CliResult): Promise<(string | number | null | undefined)[]> {
  const { cost } = await project.state();
  const end = (await project.events()).findLast((event) => event.type === 'run-finished');
  const shown = (await project.cli('status')).stdout;
  return [
    cost.costUsd,
    end?.cost.costUsd,
    /^ {2}cost +(\$[\d.]+)/m.exec(run.stdout)?.[1],
    /· (\$[\d.]+), /.exec(shown)?.[1],
  ];
}

it('a run ends its agents at the cap by what they stream, keeps what is merged, and goes on with a higher cap', async () => {
  await project.config(await dearClaude('T-2-1', 'T-2-2'));
  await project.graph('login', [
    { id: 'T-1', create: ['T-1.txt'] },
    { id: 'T-2', level: 2, create: ['T-2.txt'] },
  ]);

  const capped = await project.cli('kurukshetra', '--max-cost', '4');

  expect(capped.exit, capped.stdout).toBe(3);
  expect(capped.stdout).toMatch(/run paused: cost \$5\.01, cap \$4\.00\n/);
  expect(capped.stdout).toContain('mahabharatha kurukshetra --feature login --resume --max-cost 11');
  expect(await project.processes()).toEqual([]);
  expect(project.git('show', `${INTEGRATION}:T-1.txt`)).toBe('done\n');
  expect(await sums(capped)).toEqual([5.0077, 5.0077, '$5.01', '$5.01']);
  const [attempt] = (await project.state()).tasks['T-2']?.attempts ?? [];
  expect(attempt).toMatchObject({ outcome: 'interrupted', commit: expect.stringMatching(/^[0-9a-f]{40}/) as string });

  const again = await project.cli('kurukshetra', '--resume');
  expect([again.exit, await calls('T-2')]).toEqual([3, 1]);

  const killed = project.start('kurukshetra', '--resume', '--max-cost', '20');
  await waitFor('the cost to be recorded', async () => ((await project.state()).cost.costUsd ?? 0) > 10);
  killed.child.kill('SIGKILL');
  await killed.end;
  const low = await project.cli('kurukshetra', '--resume', '--max-cost', '9');
  expect(low.exit, low.stdout).toBe(3);
  expect(low.stdout).toContain('run paused: cost $10.01, cap $9.00');
  expect(await calls('T-2')).toBe(2);

  const done = await project.cli('kurukshetra', '--resume', '--max-cost', '20');
  expect(done.exit, done.stdout).toBe(0);
  expect(await sums(done)).toEqual([10.0154, 10.0154, '$10.02', '$10.02']);
  expect((await project.state()).tasks['T-2']).toMatchObject({ status: 'complete', failures: 0, losses: 0 });
});

it('a task that costs more than one task may fails, and the others go on', async () => {
  await project.config(`${await dearClaude('T-1-1')}limits: { task_cost: 2 }\n`);
  await project.graph('login', [
    { id: 'T-1', create: ['T-1.txt'] },
    { id: 'T-2', create: ['T-2.txt'] },
  ]);

  const run = await project.cli('kurukshetra');

  expect(run.exit, run.stdout).toBe(1);
  expect(run.stdout).toContain('T-1 is failed: cost $5.00, cap for one task $2.00');
  expect(run.stdout).toMatch(/retry T-1 .*\n +then: .* --resume --max-task-cost 11\n/);
  const { tasks } = await project.state();
  expect([tasks['T-1']?.attempts.length, tasks['T-2']?.status]).toEqual([1, 'complete']);
});

it('a cap is refused for an agent that does not tell what it costs, unless no agent is asked', async () => {
  await project.config('agent: mine\nagents: { mine: { command: ["true"] } }\nlimits: { cost: 5 }\n');
  await project.graph('login', [{ id: 'T-1', create: ['T-1.txt'] }]);
  const refused = await project.cli('kurukshetra');
  expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('The agent "mine" does not tell')]);
  await project.graph('login', [simpleTask('T-1')]);
  const plan = await project.cli('kurukshetra', '--dry-run', '--max-task-cost', '2');
  expect(plan.stdout).toContain('agent mine, at most $5.00 for all, at most $2.00 for each task. Nothing was started.');
  expect((await project.cli('kurukshetra')).exit).toBe(0);
});
