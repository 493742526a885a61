import { describe, expect, it } from 'vitest';
import type { EgressRule, KnownAgent } from '../protocol/index.ts';
import { networkFor } from './container-network.ts';
import type { ContainerWishes } from './run-workers.ts';

/** What is said of the network when workers get these variables of the user, and may reach these hosts. */
function warningsOf(
  env: Record<string, string>,
  names: readonly string[],
  hosts: readonly string[],
  agent: KnownAgent = 'claude',
): Promise<unknown> {
  const rules = hosts.map((host): EgressRule => ({ host, covers: 'host', ports: [443], trustedPrivate: false }));
  const wishes = {
    config: { agents: {}, workers: { lease: 1, container: { network: 'allowlist', env: names } } },
    used: [{ spec: { kind: agent, command: agent, model: null, args: [] }, tasks: ['T-1'], models: [null] }],
    mode: { rules: Promise.resolve({ rules, warnings: [], env: {} }) },
    env,
  } as unknown as ContainerWishes;
  return networkFor(wishes, false).warnings;
}

const CANNOT = [expect.stringContaining('workers cannot reach api.anthropic.com')];

describe('a warning before the start says that the agent cannot reach its model', () => {
  it("also when the allowlist has a name that is only the end of the model's", async () => {
    expect(await warningsOf({}, [], ['com'])).toEqual(CANNOT);
    expect(await warningsOf({}, [], ['anthropic.com'])).toEqual(CANNOT);
    expect(await warningsOf({}, [], ['api.anthropic.com'])).toEqual([]);
  });

  it("also when the user's own agent uses a cloud whose variables workers do not get", async () => {
    const env = { CLAUDE_CODE_USE_BEDROCK: '1' };
    expect(await warningsOf(env, [], ['example.org'])).toEqual(CANNOT);
    expect(await warningsOf(env, ['CLAUDE_CODE_USE_BEDROCK'], ['example.org'])).toEqual([]);
    expect(await warningsOf({}, ['CLAUDE_CODE_USE_BEDROCK'], ['example.org'])).toEqual(CANNOT);
  });

  it('also for every other agent, unless its own variable names another server', async () => {
    const cannot = [
      'workers cannot reach api.openai.com, and so Codex cannot work: add "agent" to workers.container.allow',
    ];
    expect(await warningsOf({}, [], ['api.anthropic.com'], 'codex')).toEqual(cannot);
    expect(await warningsOf({}, [], ['api.openai.com'], 'codex')).toEqual([]);
    const gateway = { GOOGLE_GEMINI_BASE_URL: 'https://models.example.org' };
    expect(await warningsOf(gateway, [], ['models.example.org'], 'gemini')).toEqual([]);
    expect(await warningsOf({}, [], ['models.example.org'], 'gemini')).toHaveLength(1);
  });
});
