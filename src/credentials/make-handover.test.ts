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
    agents: [CLAUDE],
    ...rest,
  });
}

const CLAUDE = { kind: 'claude', models: [null] } as const;
const SEED = { path: '.claude.json', content: '{"hasCompletedOnboarding":true}\n' };

describe('what is handed to a worker', () => {
  it('is for Claude Code one credential for the agent only, and a configuration without questions', async () => {
    const env = { TZ: 'UTC', ANTHROPIC_API_KEY: 'made-up-key', CLAUDE_CODE_OAUTH_TOKEN: 'made-up-token' };
    expect(await make(env)).toMatchObject({
      handover: { env: { TZ: 'UTC' }, secrets: [] },
      proofs: [
        {
          agent: 'claude',
          access: {
            agent: { env: { CLAUDE_CODE_OAUTH_TOKEN: 'made-up-token' }, files: [SEED] },
            secrets: ['made-up-token'],
          },
          credentials: { source: 'CLAUDE_CODE_OAUTH_TOKEN' },
        },
      ],
      missing: [],
    });
  });

  it('is a word in place of a credential that stays outside, and nothing of it that could be shown', async () => {
    const env = { ANTHROPIC_API_KEY: 'made-up-key', ANTHROPIC_CUSTOM_HEADERS: 'X-Gateway: made-up-header' };
    const made = await make(env, { network: 'allowlist' });
    const [proof] = made.proofs;
    expect(JSON.stringify([made.handover, proof?.access])).not.toMatch(/made-up/);
    expect(proof?.access).toMatchObject({
      agent: { env: { ANTHROPIC_API_KEY: expect.any(String) }, files: [SEED] },
      injected: true,
    });
    expect(proof?.injection).toMatchObject({ secrets: ['made-up-key', 'made-up-header'] });
  });

  it('is refused for another agent when credentials must stay outside', async () => {
    const agent = { kind: 'command', name: 'mine', names: [] } as const;
    const refused = { code: 'CREDENTIALS_NOT_INJECTABLE' };
    for (const other of [agent, { kind: 'codex', models: [null] } as const])
      await expect(make({}, { agents: [CLAUDE, other], wish: 'inject' })).rejects.toMatchObject(refused);
    // Nor is anything else handed over then.
    const headers = { ANTHROPIC_CUSTOM_HEADERS: 'Authorization: Bearer made-up' };
    await expect(make(headers, { wish: 'inject' })).rejects.toMatchObject(refused);
    const cloud = { wish: 'inject', names: ['CLAUDE_CODE_USE_BEDROCK'] } as const;
    await expect(make({ CLAUDE_CODE_USE_BEDROCK: '1' }, cloud)).rejects.toMatchObject(refused);
    expect(await make({}, { wish: 'inject' })).toMatchObject({ proofs: [{ credentials: undefined }] });
  });

  it('is the login of a file, next to the configuration', async () => {
    const HOME = tempFolder();
    mkdirSync(path.join(HOME, '.claude'));
    const login = { claudeAiOauth: { accessToken: 'made-up-access', refreshToken: 'made-up-refresh', scopes: [] } };
    writeFileSync(path.join(HOME, '.claude/.credentials.json'), JSON.stringify(login));
    const made = await make({ HOME });
    const { agent, secrets } = made.proofs[0]?.access ?? { agent: { files: [] }, secrets: [] };
    expect(agent.files.map((file) => file.path)).toEqual(['.claude.json', '.credentials.json']);
    expect(secrets).toEqual(['made-up-access']);
    expect(JSON.stringify(made)).not.toContain('made-up-refresh');
  });

  it('may be without credentials: a gateway may need none', async () => {
    expect(await make({})).toEqual({
      handover: { env: {}, secrets: [] },
      proofs: [{ agent: 'claude', access: { agent: { env: {}, files: [SEED] }, secrets: [], injected: false } }],
      missing: [],
    });
  });

  it('hides the token of a header also where it stands without the word before it', async () => {
    const made = await make({ ANTHROPIC_CUSTOM_HEADERS: 'Authorization: Bearer made-up-token\nX-Team: blue team' });
    expect(made.proofs[0]?.access.secrets).toEqual(['Bearer made-up-token', 'made-up-token', 'blue team']);
  });

  it('has the headers for a gateway, for the agent only, and hides their values', async () => {
    const ANTHROPIC_CUSTOM_HEADERS = 'X-Team: made-up-team\nX-Other: made-up-other';
    const made = await make({ ANTHROPIC_CUSTOM_HEADERS });
    expect(made).toMatchObject({
      handover: { env: {}, secrets: [] },
      proofs: [
        { access: { agent: { env: { ANTHROPIC_CUSTOM_HEADERS } }, secrets: ['made-up-team', 'made-up-other'] } },
      ],
    });
  });

  it.each([
    ['claude', 'ANTHROPIC_BASE_URL', 'GOOGLE_GEMINI_BASE_URL'],
    ['gemini', 'GOOGLE_GEMINI_BASE_URL', 'ANTHROPIC_BASE_URL'],
  ] as const)('has an address with a secret in it for the agent only that asks it: %s', async (kind, own, other) => {
    const address = 'https://me:made-up-word@gateway.test/v1?code=made-up-code';
    const made = await make({ [own]: address, [other]: address }, { agents: [{ kind, models: [null] }] });
    expect(made).toMatchObject({
      handover: { env: {}, secrets: [] },
      proofs: [{ access: { agent: { env: { [own]: address } }, secrets: ['made-up-word', 'made-up-code'] } }],
    });
    expect(made.proofs[0]?.access.agent.env).not.toHaveProperty(other);
    const plain = { [own]: 'https://gateway.test/v1' };
    expect((await make(plain, { agents: [] })).handover.env).toEqual(plain);
  });

  it('is refused when credentials must stay outside and are in the address of the model', async () => {
    const env = { ANTHROPIC_BASE_URL: 'https://me:made-up-word@gateway.test' };
    await expect(make(env, { wish: 'inject' })).rejects.toMatchObject({ code: 'CREDENTIALS_NOT_INJECTABLE' });
  });

  it('is for another agent the variables that the configuration names for it, all hidden, and no login of Claude Code', async () => {
    const env = { MINE_KEY: 'made-up-mine', MINE_PLACE: 'made-up-place', ANTHROPIC_API_KEY: 'made-up-key', X: 'x' };
    const agent = { kind: 'command', name: 'mine', names: ['MINE_KEY', 'MINE_PLACE', 'MINE_MODEL'] } as const;
    expect(await make(env, { agents: [agent], names: ['X', 'Y'] })).toEqual({
      handover: { env: { X: 'x' }, secrets: [] },
      proofs: [
        {
          agent: 'mine',
          access: {
            agent: { env: { MINE_KEY: 'made-up-mine', MINE_PLACE: 'made-up-place' }, files: [] },
            secrets: ['made-up-mine', 'made-up-place'],
            injected: false,
          },
        },
      ],
      missing: ['Y', 'MINE_MODEL'],
    });
  });

  it('is for each other known agent the key of the provider that it asks, under the name that it reads, and no other', async () => {
    const keys = {
      OPENAI_API_KEY: 'made-up-openai',
      GOOGLE_API_KEY: 'made-up-google',
      ANTHROPIC_API_KEY: 'made-up-key',
      GROQ_API_KEY: 'made-up-groq',
    };
    const opencode = { kind: 'opencode', models: ['groq/fast', 'mine/own'] } as const;
    const agents = [{ kind: 'codex', models: [null] } as const, { kind: 'gemini', models: [null] } as const, opencode];
    const { handover, proofs } = await make(keys, { agents });
    expect(handover).toEqual({ env: {}, secrets: [] });
    expect(
      proofs.map(({ agent, access, credentials }) => [agent, access.agent.env, access.secrets, credentials?.source]),
    ).toEqual([
      ['codex', { CODEX_API_KEY: 'made-up-openai' }, ['made-up-openai'], 'OPENAI_API_KEY'],
      ['gemini', { GEMINI_API_KEY: 'made-up-google' }, ['made-up-google'], 'GOOGLE_API_KEY'],
      ['opencode', { GROQ_API_KEY: 'made-up-groq' }, ['made-up-groq'], 'GROQ_API_KEY'],
    ]);
    const first = await make(keys, { agents: [{ kind: 'opencode', models: [null] }] });
    expect(first.proofs[0]?.access.agent.env).toEqual({ ANTHROPIC_API_KEY: 'made-up-key' });
    const none = await make(keys, { agents: [{ kind: 'opencode', models: ['mine/own'] }] });
    expect(none.proofs[0]).toMatchObject({ access: { agent: { env: {} } }, credentials: undefined });
  });

  it('is nothing for the agent when all tasks are commands', async () => {
    expect(await make({ ANTHROPIC_API_KEY: 'made-up-key', CI: 'true' }, { agents: [] })).toEqual({
      handover: { env: { CI: 'true' }, secrets: [] },
      proofs: [],
      missing: [],
    });
  });

  it('is refused with the names of all variables that cannot be handed over', async () => {
    const agent = { kind: 'command', name: 'mine', names: ['PATH'] } as const;
    await expect(
      make({ PATH: '/made-up' }, { agents: [agent], names: ['HOME', 'TZ', 'GIT_DIR'] }),
    ).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      facts: {
        file: 'config.yaml',
        problems: [
          'workers.container.env: HOME cannot be handed to workers: a container has its own',
          expect.stringMatching(/^workers\.container\.env: GIT_DIR /),
          expect.stringMatching(/^agents\.mine\.env: PATH /),
        ],
      },
    });
  });
});
