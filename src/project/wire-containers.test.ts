import { expect, it } from 'vitest';
import { parseConfig } from '../config/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import { parseGraph } from '../tasks/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import { servedAgent } from './wire-containers.ts';

const config = parseConfig('config.yaml', 'agents: { mine: { command: [mine], env: [MINE_KEY] } }');
const graphOf = (...runs: (string | undefined)[]): TaskGraph => {
  const tasks = runs.map((run, index) => ({ id: `T-${index}`, title: 'T', files: { create: [`${index}`] }, run }));
  const parsed = parseGraph({ feature: 'f', tasks });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  return parsed.graph;
};
const claude: AgentSpec = { kind: 'claude', command: 'claude', model: null, args: [] };
const mine: AgentSpec = { kind: 'command', name: 'mine', command: ['mine'], prompt: 'stdin' };

it('workers get no credentials of an agent that no task needs', () => {
  for (const agent of [claude, mine])
    expect(servedAgent({ agent, config, graph: graphOf('true', 'false') })).toEqual({ kind: 'shell' });
});

it('workers get the credentials of the agent when one task needs it', () => {
  const graph = graphOf('true', undefined);
  expect(servedAgent({ agent: claude, config, graph })).toEqual({ kind: 'claude' });
  expect(servedAgent({ agent: mine, config, graph })).toEqual({ kind: 'command', name: 'mine', names: ['MINE_KEY'] });
});
