import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProject } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

const KEY = 'sk-made-up-0123456789abcdefghijklmnopqrstuvwxyz';
/** So much of it that no other text has it. */
const BEGINNING = KEY.slice(0, 14);
/** The log shows 120 characters of a command: the key would be cut in its middle. */
const COMMAND = `curl ${'-'.repeat(85)} ${KEY}`;

let project: TestProject;

beforeEach(async () => {
  project = await createProject({ env: { IS_SANDBOX: '1', ANTHROPIC_API_KEY: KEY } });
});
afterEach(() => project.remove());

/** An agent that prints these events, and does nothing. */
async function agentThatPrints(name: string, events: readonly object[]): Promise<void> {
  const lines = events.map((event) => JSON.stringify(event));
  await writeFile(path.join(project.outside, 'events'), `${lines.join('\n')}\n`);
  const program = path.join(project.outside, name);
  await writeFile(program, '#!/bin/bash\ncat > /dev/null\ncat "$OUTSIDE/events"\nexit 1\n', { mode: 0o755 });
  await project.config(`agent: ${name}\n${name}: { command: "${program}" }\nretry: { attempts: 1 }\n`);
  await project.graph('login', [{ id: 'T-1', create: ['a.txt'] }]);
}

/** All that is kept and told of a run in which the agent has shown the command. */
async function shownOfRun(): Promise<string> {
  const { stdout, stderr } = await project.cli('kurukshetra');
  const log = await project.cli('logs', '--tail', 'all', '--json');
  expect(log.stdout, stdout).toContain('curl --');
  return [stdout, stderr, log.stdout, JSON.stringify([await project.state(), await project.events()])].join('\n');
}

it('a key is not in the log, the state and the feedback, nor is its beginning where a line is cut', async () => {
  const tool = { type: 'tool_use', name: 'Bash', input: { command: COMMAND } };
  await agentThatPrints('claude', [{ type: 'assistant', message: { content: [tool] } }]);

  expect(await shownOfRun()).not.toContain(BEGINNING);
});

it('a key is not in the feedback of a verification, nor is its end where the output is cut', async () => {
  await project.config('retry: { attempts: 1 }\n');
  await writeFile(path.join(project.outside, 'printed'), `${KEY}${'x'.repeat(7980)}`);
  const verify = `cat '${project.outside}/printed'; exit 1`;
  await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: 'touch a.txt', verify }]);

  expect((await project.cli('kurukshetra')).exit).toBe(1);
  const kept = JSON.stringify([await project.state(), await project.events()]);
  expect(kept).toContain('x'.repeat(7900));
  expect(kept).not.toContain(KEY.slice(-14));
});

it.each(['OPENAI_API_KEY', 'CODEX_API_KEY', 'GEMINI_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])(
  'a worker without a container hides the key in %s, too',
  async (name) => {
    project.env['ANTHROPIC_API_KEY'] = '';
    project.env[name] = KEY;
    const item = { type: 'command_execution', command: `curl -- ${KEY}` };
    await agentThatPrints('codex', [{ type: 'item.started', item }]);

    expect(await shownOfRun()).not.toContain(BEGINNING);
  },
);
