import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { inDollars } from '../../src/lib/index.ts';
import { claudeEnvironment, findClaude, HOW_TO_GET_CLAUDE } from '../support/claude-cli.ts';
import { scriptByTask, startModelServer } from '../support/model-server.ts';
import type { ModelServer, Reply } from '../support/model-server.ts';
import { createProject } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

const claude = findClaude();
const inCi = process.env['CI'] === 'true';
const why = claude === undefined ? ` (${HOW_TO_GET_CLAUDE})` : '';

let project: TestProject;
let server: ModelServer;

afterEach(async () => {
  await server.close();
  await project.remove();
});

async function prepare(replies: Readonly<Record<string, readonly Reply[]>>): Promise<void> {
  server = await startModelServer(scriptByTask(replies));
  const { HOME: _home, CLAUDE_CONFIG_DIR: _config, ...env } = claudeEnvironment('', server.url);
  project = await createProject({ env });
  await project.config(`claude: { command: ${JSON.stringify(claude)} }\n`);
}

const bash = (command: string): Reply => ({ toolUse: { name: 'Bash', input: { command, description: 'Do it' } } });

const EVERY_ARGV =
  'if [ -d /proc/self ]; then cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "; else ps -A -ww -o args=; fi > "$OUTSIDE/argv"; true';

const INTEGRATION = 'mahabharatha/login/integration';

describe.skipIf(claude === undefined && !inCi)(`features built by Claude Code with a scripted model${why}`, () => {
  it('are complete, level by level, with their cost; prompts of any length do not show in the process list', async () => {
    await prepare({
      'L1-a': [bash('mkdir -p src; echo alpha > src/a.txt'), { text: 'Written.' }],
      'L1-b': [bash(EVERY_ARGV), bash('echo beta > b.txt'), { text: 'Written.' }],
      'L2-all': [bash('cat src/a.txt b.txt > all.txt'), { text: 'Put together.' }],
    });
    // Longer than any argument may be.
    const long = 'These words are for the model alone. '.repeat(5000);
    await project.graph('login', [
      { id: 'L1-a', level: 1, create: ['src/a.txt'], verify: 'grep -q alpha src/a.txt' },
      { id: 'L1-b', level: 1, create: ['b.txt'], description: long },
      {
        id: 'L2-all',
        level: 2,
        dependencies: ['L1-a', 'L1-b'],
        create: ['all.txt'],
        verify: 'test "$(wc -l < all.txt)" = 2',
      },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.stdout).toContain('3 of 3 tasks are merged');
    expect(run.exit).toBe(0);
    expect(project.git('show', `${INTEGRATION}:all.txt`)).toBe('alpha\nbeta\n');
    expect(server.requests.some(({ prompt }) => prompt.includes(long.trim()))).toBe(true);
    const argv = await readFile(path.join(project.outside, 'argv'), 'utf8');
    expect(argv).toContain('--output-format stream-json');
    expect(argv).not.toContain('for the model alone');
    expect(argv).not.toContain('made-up-key');
    const { cost } = await project.state();
    // Seven answers, each with the usage that the model server tells.
    expect(cost).toMatchObject({ inputTokens: 700, outputTokens: 280, cacheReadTokens: 210, cacheWriteTokens: 140 });
    expect(cost.costUsd).toBeGreaterThan(0);
    expect((await project.cli('status')).stdout).toContain(`${inDollars(cost.costUsd)}, 1330 tokens`);
    expect((await project.cli('logs', '--task', 'L1-a')).stdout).toContain('Written.');
    expect(await project.processes()).toEqual([]);
  });

  it('get a second attempt with the output of the verification in the prompt', async () => {
    await prepare({
      'T-1': [
        bash('echo bye > a.txt'),
        { text: 'I wrote it.' },
        bash('echo hello > a.txt'),
        { text: 'Now it is right.' },
      ],
    });
    await project.graph('login', [
      { id: 'T-1', create: ['a.txt'], verify: 'echo "wanted hello, found $(cat a.txt)"; grep -q hello a.txt' },
    ]);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(0);
    const [attempt, ...rest] = (await project.state()).tasks['T-1']?.attempts ?? [];
    expect([attempt?.outcome, ...rest.map(({ outcome }) => outcome)]).toEqual(['verification-failed', 'accepted']);
    const prompts = server.requests.map(({ prompt }) => prompt);
    expect(prompts[0]).not.toContain('found bye');
    expect(prompts[2]).toContain('wanted hello, found bye');
    expect(project.git('show', `${INTEGRATION}:a.txt`)).toBe('hello\n');
  });

  it('stop with exit 4 when the key is refused, and leave nothing behind', async () => {
    const refused = Array.from({ length: 5 }, () => ({ status: 401 }));
    await prepare({ 'T-1': refused, 'T-2': refused });
    await project.graph(
      'login',
      ['T-1', 'T-2'].map((id) => ({ id, create: [`${id}.txt`] })),
    );

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.exit).toBe(4);
    expect(run.stdout).toContain("stopped — the agent's credentials were refused");
    // The first refusal is enough.
    const { tasks } = await project.state();
    expect(Object.values(tasks).map(({ attempts, failures }) => [attempts.length, failures])).toEqual([
      [1, 0],
      [0, 0],
    ]);
    expect(await project.processes()).toEqual([]);
  });
});
