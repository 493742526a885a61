import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { WAITING, waitingClaude } from '../support/waiting-claude.ts';
import { fingerprint } from '../support/temp-repository.ts';

const STREAMS = fileURLToPath(new URL('../testdata/claude-streams', import.meta.url));

let project: TestProject;

beforeEach(async () => {
  // As root Claude Code works only with IS_SANDBOX set.
  project = await createProject({ env: { IS_SANDBOX: '1' } });
});
afterEach(() => project.remove());

/** A Claude Code that answers with recorded streams, one per call, and does its task when the stream is a success. */
async function recordedClaude(...streams: readonly string[]): Promise<string> {
  const program = path.join(project.outside, 'claude');
  const text = `#!/bin/bash
if [ "$1" = --version ]; then echo 2.1.0; exit; fi
number=$(($(ls "$OUTSIDE" | grep -c "^call-") + 1))
cat > "$OUTSIDE/call-$number"
cat "$OUTSIDE/answer-$number"
if grep '"type":"result"' "$OUTSIDE/answer-$number" | grep -q '"is_error":true'; then exit 1; fi
echo done > "$MAHABHARATHA_TASK.txt"
`;
  await writeFile(program, text, { mode: 0o755 });
  for (const [index, stream] of streams.entries()) {
    await copyFile(path.join(STREAMS, `${stream}.jsonl`), path.join(project.outside, `answer-${index + 1}`));
  }
  return `claude: { command: "${program}" }\n`;
}

/** The stream was recorded with a time of 2030, and no limit lasts that long. */
async function resetsIn(seconds: number, answer: number): Promise<number> {
  const resetsAt = Math.ceil(Date.now() / 1000) + seconds;
  const file = path.join(project.outside, `answer-${answer}`);
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('1900000000', String(resetsAt)));
  return resetsAt;
}

const oneTask = [{ id: 'T-1', create: ['T-1.txt'], verify: 'test -s T-1.txt' }];

async function outcomes(): Promise<(string | null)[]> {
  return (await project.state()).tasks['T-1']?.attempts.map(({ outcome }) => outcome) ?? [];
}

describe('an agent that cannot reach its model', () => {
  it('is reported at once, and once, by the run, status and logs; so is its end', async () => {
    await project.config(await waitingClaude(project));
    await project.graph('login', oneTask);
    const run = project.start('kurukshetra');
    const waits = `T-1 waits, says worker 0: ${WAITING}`;
    await waitFor('the trouble to be told', () => run.output().includes(waits));
    expect((await project.cli('status')).stdout).toMatch(new RegExp(`\\n {2}0 +RUNNING .*T-1 .*${WAITING}\\n`));
    expect((await project.cli('logs')).stdout).toContain(waits);
    await writeFile(path.join(project.outside, 'go'), '');
    await waitFor('its end to be told', () => run.output().includes('T-1 goes on, says worker 0: the model answers'));
    expect((await project.cli('status')).stdout).not.toContain(WAITING);
    await writeFile(path.join(project.outside, 'end'), '');

    const { exit, stdout } = await run.end;

    expect(exit).toBe(0);
    expect(stdout.split(WAITING)).toHaveLength(2);
    expect((await project.state()).tasks['T-1']).toMatchObject({ status: 'complete', failures: 0 });
  });
});

describe('an agent in trouble that is not the task’s fault', () => {
  it('waits after a rate limit, longer each time, and uses up no try', async () => {
    const claude = await recordedClaude('rate-limit', 'overloaded', 'success');
    await project.config(`${claude}retry: { attempts: 1, backoff: 200ms }\n`);
    await project.graph('login', oneTask);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/\(rate-limited\).*waiting 0\.2 s[^]*\(rate-limited\).*waiting 0\.4 s/);
    expect(await outcomes()).toEqual(['rate-limited', 'rate-limited', 'accepted']);
    expect((await project.state()).tasks['T-1']).toMatchObject({ failures: 0, losses: 0 });
    // What was the provider's trouble is no lesson for the task.
    expect(await readFile(path.join(project.outside, 'call-3'), 'utf8')).not.toContain('went wrong');
  });

  it('pauses the run at the usage limit of the account: exit 3, says until when, and resumes', async () => {
    await project.config(`${await recordedClaude('usage-limit', 'success')}retry: { attempts: 1 }\n`);
    const resetsAt = await resetsIn(5 * 3600, 1);
    await project.graph('login', [
      ...oneTask,
      { id: 'T-2', level: 2, dependencies: ['T-1'], create: ['b.txt'], run: 'cp T-1.txt b.txt' },
    ]);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(3);
    const until = new Date(resetsAt * 1000).toISOString();
    expect(run.stdout).toMatch(new RegExp(`paused — usage limit of the account: .*It ends at ${until}`));
    expect(run.stdout).toContain(`mahabharatha kurukshetra --feature login --resume   (not before ${until})`);
    expect(await project.processes()).toEqual([]);
    expect((await project.cli('status')).stdout).toMatch(/paused .*usage limit/);
    expect(await project.state()).toMatchObject({ status: 'paused', resumeAt: until });

    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    expect(await outcomes()).toEqual(['usage-limit', 'accepted']);
    expect(await project.state()).toMatchObject({ status: 'complete', resumeAt: null });
  });

  it('stays at the usage limit with --wait and goes on at its end; Ctrl-C ends it as usual', async () => {
    await project.config(`${await recordedClaude('usage-limit', 'usage-limit', 'success')}retry: { backoff: 100ms }\n`);
    await resetsIn(5 * 3600, 1);
    await project.graph('login', oneTask);

    const waiting = project.start('kurukshetra', '--wait');
    await waitFor('it to wait', () => waiting.output().includes('The run goes on by itself at '));
    expect((await project.cli('status')).stdout).toMatch(/paused .*process \d+/);
    waiting.child.kill('SIGINT');
    expect((await waiting.end).exit).toBe(130);
    expect(await project.state()).toMatchObject({ status: 'paused' });

    await resetsIn(2, 2);
    const run = await project.cli('kurukshetra', '--resume', '--wait');
    expect(run.exit, run.stdout).toBe(0);
    expect(run.stdout).toMatch(
      /run paused: [^]*The run goes on by itself at [^]*goes on: 1 task to do[^]*run complete/,
    );
    expect(await outcomes()).toEqual(['usage-limit', 'usage-limit', 'accepted']);
  });

  it.each(['invalid-key', 'not-logged-in', 'credit-too-low'])(
    'stops the run when it is refused (%s): exit 4, and resumes',
    async (stream) => {
      await project.config(`${await recordedClaude(stream, 'success')}retry: { attempts: 1 }\n`);
      await project.graph('login', oneTask);

      const run = await project.cli('kurukshetra');

      expect(run.exit).toBe(4);
      expect(run.stdout).toContain("stopped — the agent's credentials were refused");
      expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
      expect(await outcomes()).toEqual(['credentials', 'accepted']);
    },
  );
});

describe('an agent that works', () => {
  it('is counted: tokens and cost of all attempts, also failed ones, are in the state, status and summary', async () => {
    await project.config(await recordedClaude('success', 'max-turns', 'success'));
    await project.graph('login', [
      { id: 'T-1', create: ['T-1.txt'], verify: 'if [ ! -e "$OUTSIDE/once" ]; then touch "$OUTSIDE/once"; exit 1; fi' },
    ]);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(0);
    expect(await outcomes()).toEqual(['verification-failed', 'agent-failed', 'accepted']);
    const { cost, tasks } = await project.state();
    const usages = tasks['T-1']?.attempts.map(({ usage }) => usage) ?? [];
    expect(usages).toHaveLength(3);
    const sum = (field: 'costUsd' | 'inputTokens'): number =>
      usages.reduce((total, usage) => total + (usage?.[field] ?? 0), 0);
    expect(cost.inputTokens).toBe(sum('inputTokens'));
    expect(cost.costUsd).toBeCloseTo(sum('costUsd'));
    expect(cost.costUsd).toBeGreaterThan(0);
    expect(run.stdout).toMatch(/cost {5}\$\d+\.\d\d \(\d+ tokens in, \d+ out\)/);
    expect((await project.cli('status')).stdout).toMatch(/\$\d+\.\d\d, \d+ tokens/);
    expect((await project.cli('logs', '0')).stdout).toContain('agent');
  });
});

it('a task may name its agent and its model; what both agents use is added up', async () => {
  const program = path.join(project.outside, 'codex');
  const text = `#!/bin/bash
if [ "$1" = --version ]; then echo codex-cli 99.0.0; exit; fi
cat > "$OUTSIDE/codex-prompt"
echo "$*" > "$OUTSIDE/codex-arguments"
cat "$OUTSIDE/codex-stream"
echo done > "$MAHABHARATHA_TASK.txt"
`;
  await writeFile(program, text, { mode: 0o755 });
  const codexStream = fileURLToPath(new URL('../testdata/codex-streams/success.jsonl', import.meta.url));
  await copyFile(codexStream, path.join(project.outside, 'codex-stream'));
  await project.config(`${await recordedClaude('success')}codex: { command: "${program}", model: small }\n`);
  await project.graph('login', [...oneTask, { id: 'T-2', create: ['T-2.txt'], agent: 'codex', model: 'large' }]);

  const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2', '--mode', 'subprocess');

  expect(stdout).toContain('2 of 2 tasks are merged');
  expect(exit).toBe(0);
  expect(stdout).toContain('Codex is started with --dangerously-bypass-approvals-and-sandbox');
  const noted = (name: string) => readFile(path.join(project.outside, name), 'utf8');
  expect(await noted('codex-arguments')).toContain('--model large');
  expect(await noted('codex-prompt')).toContain('# Task T-2');
  const { tasks } = await project.state();
  expect(tasks['T-2']?.attempts[0]?.usage).toMatchObject({ inputTokens: 210, outputTokens: 120 });
  expect(tasks['T-1']?.attempts[0]?.usage?.costUsd).toBeGreaterThan(0);
});

describe('an agent that cannot be used', () => {
  it.each([
    {
      what: 'is not installed',
      config: 'claude: { command: no-such-claude }',
      exit: 4,
      message:
        /The agent "claude" cannot be used: "no-such-claude" is not on the PATH\. 1 task needs an agent\.[^]*npm install -g @anthropic-ai\/claude-code/,
    },
    {
      what: 'is not installed either',
      config: 'agent: mine\nagents: { mine: { command: [no-such-agent] } }',
      exit: 4,
      message: /"no-such-agent" is not on the PATH[^]*agents\.mine\.command/,
    },
    {
      what: 'is no file of the repository',
      config: 'agent: mine\nagents: { mine: { command: [tools/agent.sh] } }',
      exit: 4,
      message: /"tools\/agent\.sh" is no executable file of the repository[^]*chmod \+x/,
    },
    {
      what: 'is not configured',
      config: 'agent: mine',
      exit: 2,
      message: /There is no agent called "mine"\.[^]*Known agents: claude, codex, gemini, opencode, shell/,
    },
    {
      what: 'is not known, and a task asks for it',
      config: '',
      task: { agent: 'gpt' },
      exit: 2,
      message: /There is no agent called "gpt", which T-2 of the task graph asks for\./,
    },
    {
      what: 'is too old',
      config: 'agent: codex\ncodex: { command: "$OUTSIDE/old-codex" }',
      exit: 4,
      message: /Codex 0\.20\.0 is older than \d+\.\d+\.\d+[^]*npm install -g @openai\/codex@latest/,
    },
    {
      what: 'does only tasks with a command',
      config: 'agent: shell',
      exit: 4,
      message: /it does only tasks with a "run" command\. 1 task/,
    },
  ])(
    'is refused before anything starts: $what',
    async ({ config, task = { run: 'echo b > b.txt' }, exit, message }) => {
      await writeFile(path.join(project.outside, 'old-codex'), '#!/bin/sh\necho codex-cli 0.20.0\n', { mode: 0o755 });
      await project.config(`${config.replace('$OUTSIDE', project.outside)}\n`);
      await project.graph('login', [...oneTask, { id: 'T-2', create: ['b.txt'], ...task }]);
      const before = fingerprint(project.folder);

      const run = await project.cli('kurukshetra');

      expect(run.exit).toBe(exit);
      expect(run.stderr).toMatch(message);
      expect(fingerprint(project.folder)).toEqual(before);
    },
  );

  it('is refused before anything starts, also when every task has a command of its own', async () => {
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: 'echo a > a.txt' }]);
    const before = fingerprint(project.folder);
    for (const more of [[], ['--dry-run']]) {
      const run = await project.cli('kurukshetra', '--agent', 'bogus', ...more);
      expect([run.exit, run.stderr]).toEqual([2, expect.stringContaining('There is no agent called "bogus"')]);
    }
    expect(fingerprint(project.folder)).toEqual(before);
  });
});
