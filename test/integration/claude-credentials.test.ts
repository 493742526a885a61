import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAgent } from '../../src/agents/index.ts';
import type { AgentVerdict } from '../../src/agents/index.ts';
import { makeHandover } from '../../src/credentials/index.ts';
import { run } from '../../src/lib/index.ts';
import { createAgentHome, withAgentHome } from '../../src/worker/agent-home.ts';
import { findClaude, HOW_TO_GET_CLAUDE } from '../support/claude-cli.ts';
import { startModelServer } from '../support/model-server.ts';
import type { ModelServer, Script } from '../support/model-server.ts';
import { tempFolder } from '../support/temp-folder.ts';

const claude = findClaude();
const inCi = process.env['CI'] === 'true';
const why = claude === undefined ? ` (${HOW_TO_GET_CLAUDE})` : '';

const HOUR_MS = 3_600_000;
const REFUSED: Script = () => ({
  status: 401,
  body: { error: { type: 'authentication_error', message: 'OAuth token has expired' } },
});

describe.skipIf(claude === undefined && !inCi)(`the credentials that a worker's Claude Code sends${why}`, () => {
  it.each([
    ['ANTHROPIC_AUTH_TOKEN', { authorization: 'Bearer made-up-value', 'x-api-key': undefined }],
    ['CLAUDE_CODE_OAUTH_TOKEN', { authorization: 'Bearer made-up-value', 'x-api-key': undefined }],
    ['ANTHROPIC_API_KEY', { authorization: undefined, 'x-api-key': 'made-up-value' }],
  ])('are %s, when that is set, and nothing else', async (name, headers) => {
    const world = await makeWorld([{ text: 'Done.' }], { login: HOUR_MS });
    expect(await world.attempt({ [name]: 'made-up-value' })).toMatchObject({ outcome: 'verified' });
    expect(world.shown()).toEqual([headers]);
  });

  it('are the login of the user, without the refresh token, also when it has expired by the clock', async () => {
    for (const login of [HOUR_MS, -HOUR_MS]) {
      const world = await makeWorld([{ text: 'Done.' }], { login });
      expect(await world.attempt({})).toMatchObject({ outcome: 'verified' });
      expect(world.shown()).toEqual([{ authorization: 'Bearer made-up-access', 'x-api-key': undefined }]);
      expect(JSON.stringify(world.server.requests)).not.toContain('made-up-refresh');
    }
  });

  it.each([
    ['a token', { CLAUDE_CODE_OAUTH_TOKEN: 'made-up-value' }, {}],
    ['a key', { ANTHROPIC_API_KEY: 'made-up-value' }, {}],
    ['an expired login', {}, { login: -HOUR_MS }],
  ])('end the attempt with the outcome "credentials" when they are refused: %s', async (_, env, has) => {
    const world = await makeWorld(REFUSED, has);
    expect(await world.attempt(env)).toMatchObject({ outcome: 'credentials', feedback: '' });
  });

  it('end the attempt with the same outcome when there are none', async () => {
    const world = await makeWorld([]);
    expect(await world.attempt({})).toMatchObject({ outcome: 'credentials' });
    expect(world.server.requests).toEqual([]);
  });

  it('are not replaced by settings that an earlier task has written', async () => {
    const world = await makeWorld(() => ({ text: 'Done.' }));
    const proof = path.join(tempFolder(), 'planted');
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: `touch ${proof}` }] }] };
    const settings = JSON.stringify({ hooks });
    // In the configuration folder of the attempt before …
    const planted = await world.attempt({ ANTHROPIC_API_KEY: 'made-up-value' }, (folder) =>
      writeFileSync(path.join(folder, 'settings.json'), settings),
    );
    expect(planted).toMatchObject({ outcome: 'verified' });
    expect(existsSync(proof)).toBe(true);
    rmSync(proof);
    // … and in the default one.
    mkdirSync(path.join(world.home, '.claude'));
    writeFileSync(path.join(world.home, '.claude/settings.json'), settings);

    expect(await world.attempt({ ANTHROPIC_API_KEY: 'made-up-value' })).toMatchObject({ outcome: 'verified' });
    expect(existsSync(proof)).toBe(false);
  });
});

interface World {
  readonly server: ModelServer;
  /** The worker's home folder: the same for all attempts. */
  readonly home: string;
  /** One attempt of a worker that got its handover from an environment with these variables. */
  attempt(env: Readonly<Record<string, string>>, meddle?: (folder: string) => void): Promise<AgentVerdict>;
  /** The credentials of each request. */
  shown(): readonly object[];
}

async function makeWorld(script: Script, { login }: { login?: number } = {}): Promise<World> {
  if (claude === undefined) throw new Error(HOW_TO_GET_CLAUDE);
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const [userHome, home, cwd] = [tempFolder(), tempFolder(), tempFolder()];
  if (login !== undefined) writeLogin(userHome, Date.now() + login);
  const agent = createAgent({ kind: 'claude', command: claude, model: null, args: [] }, {});
  const command = agent.command('Say hello.', { run: null, promptFile: '' });
  return {
    server,
    home,
    attempt: async (variables, meddle) => {
      const env = { HOME: userHome, ANTHROPIC_BASE_URL: server.url, CLAUDE_CODE_MAX_RETRIES: '1', ...variables };
      const parts = {
        platform: 'linux',
        run,
        configFile: '',
        names: [],
        network: 'open',
        wish: 'handover',
        agents: [{ kind: 'claude', models: [null] }],
      } as const;
      const { handover, proofs } = await makeHandover({ env, ...parts });
      const given = { env: {}, files: [], ...proofs[0]?.access.agent, model: null };
      const around = { PATH: process.env['PATH'], HOME: home, IS_SANDBOX: '1', ...handover.env };
      return withAgentHome(createAgentHome(home), { agent: given, names: agent.home }, async (own) => {
        meddle?.(own['CLAUDE_CONFIG_DIR'] ?? '');
        const options = { cwd, env: { ...around, ...own, ...command.env }, input: command.input };
        const { code, stdout } = await run(command.file, command.args, options);
        const reader = agent.read({ totalMs: HOUR_MS, idleMs: HOUR_MS });
        for (const line of stdout.split('\n')) reader.stdout(line);
        return reader.verdict({ code, endedBy: 'itself' });
      });
    },
    shown: () =>
      server.requests.map(({ headers }) => ({
        authorization: headers.authorization,
        'x-api-key': headers['x-api-key'],
      })),
  };
}

function writeLogin(home: string, expiresAt: number): void {
  mkdirSync(path.join(home, '.claude'));
  const tokens = { accessToken: 'made-up-access', refreshToken: 'made-up-refresh', expiresAt };
  const login = { ...tokens, scopes: ['user:inference', 'user:profile'], subscriptionType: 'max' };
  writeFileSync(path.join(home, '.claude/.credentials.json'), JSON.stringify({ claudeAiOauth: login }));
}
