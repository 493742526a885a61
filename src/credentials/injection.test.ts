import { describe, expect, it } from 'vitest';
import { chooseWay } from './injection.ts';
import type { WayRequest } from './injection.ts';
import type { AgentCredentials } from './login.ts';

const KEY = 'sk-ant-made-up-key';

const of = (source: string): AgentCredentials => {
  const env = { [source]: KEY };
  return { source, env, files: [], secrets: [KEY], expiresAt: null, expired: false };
};

const way = (source: string, rest: Partial<WayRequest> = {}): ReturnType<typeof chooseWay> =>
  chooseWay({ credentials: of(source), env: {}, network: 'allowlist', names: [], wish: undefined, ...rest });

const BASE = (url: string): Partial<WayRequest> => ({ env: { ANTHROPIC_BASE_URL: url } });

describe('the credentials of an agent in a container', () => {
  it.each([
    ['ANTHROPIC_API_KEY', { 'x-api-key': KEY }, []],
    ['ANTHROPIC_AUTH_TOKEN', { authorization: `Bearer ${KEY}` }, []],
    ['CLAUDE_CODE_OAUTH_TOKEN', { authorization: `Bearer ${KEY}` }, ['oauth-2025-04-20']],
  ])('stay outside: %s, and the agent has a word in its place', (source, headers, betas) => {
    const found = way(source);
    expect(found).toMatchObject({
      access: { version: 1, url: 'https://api.anthropic.com', headers, betas },
      env: { [source]: expect.not.stringContaining(KEY) },
      host: 'api.anthropic.com',
      secrets: [KEY],
    });
  });

  it("go to the host of the user's address alone, with the user's own headers, which replace them as in Claude Code", () => {
    const env = {
      ANTHROPIC_BASE_URL: 'http://gateway.test:8080/anthropic',
      ANTHROPIC_CUSTOM_HEADERS: 'X-Tenant: blue\r\nX-Api-Key: gateway-key\n\nno header',
    };
    expect(way('ANTHROPIC_API_KEY', { env })).toMatchObject({
      access: {
        url: 'http://gateway.test:8080/anthropic',
        headers: { 'x-api-key': 'gateway-key', 'x-tenant': 'blue' },
      },
      host: 'gateway.test:8080',
      secrets: [KEY, 'blue', 'gateway-key'],
    });
  });

  it.each<[string, string, Partial<WayRequest>, RegExp]>([
    ['a login', '/home/me/.claude/.credentials.json', {}, /the login in \/home\/me/],
    ['an open network', 'ANTHROPIC_API_KEY', { network: 'open' }, /"network: open"/],
    ['no network', 'ANTHROPIC_API_KEY', { network: 'none' }, /"network: none"/],
    ['a key for all workers', 'ANTHROPIC_API_KEY', { names: ['ANTHROPIC_API_KEY'] }, /env gives ANTHROPIC_API_KEY/],
    ['a cloud', 'ANTHROPIC_API_KEY', { names: ['CLAUDE_CODE_USE_BEDROCK'] }, /behind another login/],
    ['a password in the address', 'ANTHROPIC_API_KEY', BASE('https://me:secret@gateway.test'), /a password/],
    ['an address of another kind', 'ANTHROPIC_API_KEY', BASE('unix:/socket'), /no http or https address/],
  ])('are handed over, or with "inject" nothing starts: %s', (_, source, rest, because) => {
    expect(way(source, rest)).toEqual({ because: expect.stringMatching(because) });
    expect(() => way(source, { ...rest, wish: 'inject' })).toThrow(
      expect.objectContaining({ code: 'CREDENTIALS_NOT_INJECTABLE', exit: 2, message: expect.stringMatching(because) }),
    );
  });

  it('are handed over when the configuration says so', () => {
    expect(way('ANTHROPIC_API_KEY', { wish: 'handover' })).toEqual({
      because: 'workers.container.credentials says so',
    });
  });

  it('never get into a header together with another one', () => {
    const bad = { ...of('ANTHROPIC_API_KEY'), env: { ANTHROPIC_API_KEY: 'key\r\nHost: evil.test' } };
    expect(way('', { credentials: bad })).toEqual({
      because: 'ANTHROPIC_API_KEY has characters that no header can have',
    });
  });
});
