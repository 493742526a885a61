import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { run } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { makeHandover } from './make-handover.ts';

type Request = Parameters<typeof makeHandover>[0];

function make(env: Environment, rest: Partial<Request> = {}): ReturnType<typeof makeHandover> {
  const own = { HOME: tempFolder(), ...env };
  return makeHandover({
    env: own,
    platform: 'linux',
    run,
    configFile: 'config.yaml',
    names: [],
    network: 'open',
    wish: undefined,
    agent: { kind: 'claude' },
    ...rest,
  });
}

const SEED = { path: '.claude.json', content: '{"hasCompletedOnboarding":true}\n' };

describe('what is handed to a worker', () => {
  it('is for Claude Code one credential for the agent only, and a configuration without questions', async () => {
    const env = { TZ: 'UTC', ANTHROPIC_API_KEY: 'made-up-key', CLAUDE_CODE_OAUTH_TOKEN: 'made-up-token' };
    expect(await make(env)).toMatchObject({
      handover: { env: { TZ: 'UTC' }, secrets: [] },
      access: {
        agent: { env: { CLAUDE_CODE_OAUTH_TOKEN: 'made-up-token' }, files: [SEED] },
        secrets: ['made-up-token'],
      },
      credentials: { source: 'CLAUDE_CODE_OAUTH_TOKEN' },
      missing: [],
    });
  });

  it('is a word in place of a credential that stays outside, and nothing of it that could be shown', async () => {
    const env = { ANTHROPIC_API_KEY: 'made-up-key', ANTHROPIC_CUSTOM_HEADERS: 'X-Gateway: made-up-header' };
    const made = await make(env, { network: 'allowlist' });
    expect(JSON.stringify([made.handover, made.access])).not.toMatch(/made-up/);
    expect(made.access.agent).toEqual({ env: { ANTHROPIC_API_KEY: expect.any(String) }, files: [SEED] });
    expect(made.injection).toMatchObject({ secrets: ['made-up-key', 'made-up-header'] });
  });

  it('is refused for another agent when credentials must stay outside', async () => {
    const agent = { kind: 'command', name: 'mine', names: [] } as const;
    const refused = { code: 'CREDENTIALS_NOT_INJECTABLE' };
    await expect(make({}, { agent, wish: 'inject' })).rejects.toMatchObject(refused);
    // Nor is anything else handed over then.
    const headers = { ANTHROPIC_CUSTOM_HEADERS: 'Authorization: Bearer made-up' };
    await expect(make(headers, { wish: 'inject' })).rejects.toMatchObject(refused);
    const cloud = { wish: 'inject', names: ['CLAUDE_CODE_USE_BEDROCK'] } as const;
    await expect(make({ CLAUDE_CODE_USE_BEDROCK: '1' }, cloud)).rejects.toMatchObject(refused);
    expect(await make({}, { wish: 'inject' })).toMatchObject({ credentials: undefined });
  });

  it('is the login of a file, next to the configuration', async () => {
    const HOME = tempFolder();
    mkdirSync(path.join(HOME, '.claude'));
    const login = { claudeAiOauth: { accessToken: 'made-up-access', refreshToken: 'made-up-refresh', scopes: [] } };
    writeFileSync(path.join(HOME, '.claude/.credentials.json'), JSON.stringify(login));
    const made = await make({ HOME });
    expect(made.access.agent.files.map((file) => file.path)).toEqual(['.claude.json', '.credentials.json']);
    expect(made.access.secrets).toEqual(['made-up-access']);
    expect(JSON.stringify(made)).not.toContain('made-up-refresh');
  });

  it('may be without credentials: a gateway may need none', async () => {
    expect(await make({})).toEqual({
      handover: { env: {}, secrets: [] },
      access: { agent: { env: {}, files: [SEED] }, secrets: [] },
      credentials: undefined,
      missing: [],
    });
  });

  it('has the headers for a gateway, for the agent only, and hides their values', async () => {
    const ANTHROPIC_CUSTOM_HEADERS = 'X-Team: made-up-team\nX-Other: made-up-other';
    const made = await make({ ANTHROPIC_CUSTOM_HEADERS });
    expect(made).toMatchObject({
      handover: { env: {}, secrets: [] },
      access: { agent: { env: { ANTHROPIC_CUSTOM_HEADERS } } },
    });
    expect(made.access.secrets).toEqual(['made-up-team', 'made-up-other']);
  });

  it('is for another agent the variables that the configuration names for it, all hidden, and no login of Claude Code', async () => {
    const env = { CODEX_KEY: 'made-up-codex', CODEX_PLACE: 'made-up-place', ANTHROPIC_API_KEY: 'made-up-key', X: 'x' };
    const agent = { kind: 'command', name: 'codex', names: ['CODEX_KEY', 'CODEX_PLACE', 'CODEX_MODEL'] } as const;
    expect(await make(env, { agent, names: ['X', 'Y'] })).toEqual({
      handover: { env: { X: 'x' }, secrets: [] },
      access: {
        agent: { env: { CODEX_KEY: 'made-up-codex', CODEX_PLACE: 'made-up-place' }, files: [] },
        secrets: ['made-up-codex', 'made-up-place'],
      },
      credentials: undefined,
      missing: ['Y', 'CODEX_MODEL'],
    });
  });

  it('is nothing for the agent when all tasks are commands', async () => {
    expect(await make({ ANTHROPIC_API_KEY: 'made-up-key', CI: 'true' }, { agent: { kind: 'shell' } })).toEqual({
      handover: { env: { CI: 'true' }, secrets: [] },
      access: { agent: { env: {}, files: [] }, secrets: [] },
      credentials: undefined,
      missing: [],
    });
  });

  it('is refused with the names of all variables that cannot be handed over', async () => {
    const agent = { kind: 'command', name: 'codex', names: ['PATH'] } as const;
    await expect(make({ PATH: '/made-up' }, { agent, names: ['HOME', 'TZ', 'GIT_DIR'] })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      facts: {
        file: 'config.yaml',
        problems: [
          'workers.container.env: HOME cannot be handed to workers: a container has its own',
          expect.stringMatching(/^workers\.container\.env: GIT_DIR /),
          expect.stringMatching(/^agents\.codex\.env: PATH /),
        ],
      },
    });
  });
});
