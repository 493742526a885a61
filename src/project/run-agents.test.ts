import { describe, expect, it } from 'vitest';
import { parseConfig } from '../config/index.ts';
import { parseGraph } from '../tasks/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import { agentOfTask, agentSpec, servedAgents, usedAgents } from './run-agents.ts';

const config = parseConfig(
  'config.yaml',
  'agents: { mine: { command: [mine], env: [MINE_KEY] } }\ncodex: { model: small, args: [--search] }\n',
);

interface Given {
  readonly run?: string;
  readonly agent?: string;
  readonly model?: string;
}

function graphOf(...given: Given[]): TaskGraph {
  const tasks = given.map((task, index) => ({ id: `T-${index}`, files: { create: [`${index}`] }, ...task }));
  const parsed = parseGraph({ feature: 'f', tasks });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  return parsed.graph;
}

const task = (agent: string | null, model: string | null = null) => ({ id: 'T-0', agent, model });

describe('the agent of a task', () => {
  it('is that of the run, with the model and the arguments of the configuration, unless the task names others', () => {
    const codex = { kind: 'codex', command: 'codex', model: 'small', args: ['--search'] };
    expect(agentOfTask(config, 'codex', task(null))).toEqual(codex);
    expect(agentOfTask(config, 'claude', task('codex', 'large'))).toEqual({ ...codex, model: 'large' });
    expect(agentOfTask(config, 'codex', task('mine'))).toMatchObject({ kind: 'command', name: 'mine' });
  });

  it('is refused when it is not known: with each known one once, and the task that asks for it', () => {
    expect(() => agentSpec(config, 'gpt')).toThrow(
      expect.objectContaining({
        message: 'There is no agent called "gpt".',
        hint: expect.stringContaining('Known agents: claude, codex, gemini, opencode, shell, mine.') as string,
      }) as Error,
    );
    expect(() => agentOfTask(config, 'claude', task('gpt'))).toThrow('"gpt", which T-0 of the task graph asks for');
    // A name that every object has.
    expect(() => agentOfTask(config, 'claude', task('constructor'))).toThrow('no agent called "constructor"');
  });

  it('is refused when it cannot be told the model that the task wants', () => {
    expect(() => agentOfTask(config, 'mine', task(null, 'large'))).toThrow(
      'The task T-0 asks for the model "large", which the agent "mine" cannot be told.',
    );
  });
});

describe('workers get the credentials of', () => {
  it('no agent that no task needs', () => {
    expect(usedAgents(config, 'claude', graphOf({ run: 'true' }, { run: 'false', agent: 'codex' }))).toEqual([]);
  });

  it('each agent that a task needs, once, and for OpenCode with the models that choose its provider', () => {
    const used = usedAgents(
      config,
      'claude',
      graphOf(
        {},
        { agent: 'mine' },
        { agent: 'opencode', model: 'openai/o' },
        { agent: 'opencode' },
        { agent: 'mine' },
      ),
    );
    expect(used.map(({ tasks }) => tasks)).toEqual([['T-0'], ['T-1', 'T-4'], ['T-2', 'T-3']]);
    expect(servedAgents(used, config)).toEqual([
      { kind: 'claude', models: [null] },
      { kind: 'command', name: 'mine', names: ['MINE_KEY'] },
      { kind: 'opencode', models: ['openai/o', null] },
    ]);
    expect(servedAgents(usedAgents(config, 'shell', graphOf({})), config)).toEqual([]);
  });
});
