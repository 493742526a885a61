import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { AppError, run } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { findAgentCredentials } from './agent-credentials.ts';
import type { AgentCredentials } from './login.ts';

const NOW = Date.parse('2026-11-18T12:00:00.000Z');
const LATER = Date.parse('2026-11-18T20:00:00.000Z');
const EARLIER = Date.parse('2026-11-18T04:00:00.000Z');

const loginOf = (accessToken: string, expiresAt: number | null = LATER): string =>
  JSON.stringify({
    claudeAiOauth: {
      accessToken,
      refreshToken: 'made-up-refresh',
      refreshTokenExpiresAt: LATER,
      expiresAt,
      scopes: ['user:inference', 'user:profile'],
      subscriptionType: 'enterprise',
    },
    mcpOAuth: { server: { accessToken: 'made-up-other', refreshToken: 'made-up-refresh' } },
  });

function find(env: Environment, platform: NodeJS.Platform = 'linux'): Promise<AgentCredentials | undefined> {
  return findAgentCredentials({ env, platform, run, clock: { now: () => NOW } });
}

/** A home folder with a login, and nothing else of this machine. */
function homeWith(login: string | undefined, folder = '.claude'): { HOME: string; PATH: string } {
  const HOME = tempFolder();
  mkdirSync(path.join(HOME, folder));
  if (login !== undefined) writeFileSync(path.join(HOME, folder, '.credentials.json'), login);
  return { HOME, PATH: path.join(HOME, 'no-programs') };
}

/** A folder for the PATH with a program like that of macOS. */
function fakeSecurity(script: string): string {
  const folder = tempFolder();
  const file = path.join(folder, 'security');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return folder;
}

const said = (text: string): string => `printf '%s\\n' '${text}'`;

async function problemOf(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof AppError)) throw new Error('there was no problem');
  // All of an error that can be shown, its cause included.
  expect(`${error.stack} ${error.hint} ${JSON.stringify(error.facts)} ${String(error.cause)}`).not.toContain('made-up');
  return `${error.code}: ${error.message}`;
}

describe('credentials in variables', () => {
  it.each(['CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])(
    'are found in %s before any login, and stay out of what people see',
    async (name) => {
      expect(await find({ ...homeWith(loginOf('made-up-file')), [name]: ' made-up-value\n' })).toEqual({
        source: name,
        env: { [name]: 'made-up-value' },
        files: [],
        secrets: ['made-up-value'],
        expiresAt: null,
        expired: false,
      });
    },
  );

  it('are handed over singly: a token for a gateway, else the subscription, else a key', async () => {
    const [gateway, subscription, key] = ['ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_API_KEY'];
    const env = { ...homeWith(undefined), [key]: 'made-up-k', [subscription]: 'made-up-s', [gateway]: 'made-up-g' };
    expect((await find(env))?.env).toEqual({ [gateway]: 'made-up-g' });
    expect((await find({ ...env, [gateway]: '' }))?.env).toEqual({ [subscription]: 'made-up-s' });
    expect((await find({ ...env, [gateway]: undefined, [subscription]: ' ' }))?.env).toEqual({ [key]: 'made-up-k' });
  });
});

describe('a login in a file', () => {
  it('is handed over without its refresh token, and without the logins to other servers', async () => {
    const env = homeWith(loginOf('made-up-access'));
    const found = await find(env);
    expect(found).toEqual({
      source: path.join(env.HOME, '.claude/.credentials.json'),
      env: {},
      files: [{ path: '.credentials.json', content: expect.any(String) }],
      secrets: ['made-up-access'],
      expiresAt: '2026-11-18T20:00:00.000Z',
      expired: false,
    });
    expect(JSON.parse(found?.files[0]?.content ?? '')).toEqual({
      claudeAiOauth: {
        accessToken: 'made-up-access',
        expiresAt: LATER,
        scopes: ['user:inference', 'user:profile'],
        subscriptionType: 'enterprise',
      },
    });
  });

  it('is read from CLAUDE_CONFIG_DIR when that is set, and only from there', async () => {
    const env = homeWith(loginOf('made-up-other'));
    const elsewhere = homeWith(loginOf('made-up-mine'), 'config');
    const CLAUDE_CONFIG_DIR = path.join(elsewhere.HOME, 'config');
    expect((await find({ ...env, CLAUDE_CONFIG_DIR }))?.secrets).toEqual(['made-up-mine']);
    expect(await find({ ...env, CLAUDE_CONFIG_DIR: tempFolder() })).toBeUndefined();
    expect((await find({ ...env, CLAUDE_CONFIG_DIR: '' }))?.secrets).toEqual(['made-up-other']);
  });

  it('says that it has expired; without an end it never expires', async () => {
    expect(await find(homeWith(loginOf('made-up-access', EARLIER)))).toMatchObject({
      expired: true,
      expiresAt: '2026-11-18T04:00:00.000Z',
    });
    expect(await find(homeWith(loginOf('made-up-access', null)))).toMatchObject({ expired: false, expiresAt: null });
  });

  it.each([
    ['no user is logged in', '{"mcpOAuth":{}}'],
    ['the user has logged out', '{"claudeAiOauth":{"accessToken":"","refreshToken":""}}'],
    ['there was no login', '{"claudeAiOauth":null}'],
    ['there is no file', undefined],
  ])('is missing when %s', async (_, content) => {
    expect(await find(homeWith(content))).toBeUndefined();
  });

  it.each([
    ['it is not JSON', 'made-up-token'],
    ['it is not JSON', ''],
    ['not as it should be: the whole', '"made-up-token"'],
    ['not as it should be: claudeAiOauth', '{"claudeAiOauth":"made-up-token"}'],
    ['not as it should be: claudeAiOauth.accessToken', '{"claudeAiOauth":{"accessToken":["made-up-token"]}}'],
    ['not as it should be: claudeAiOauth.expiresAt', '{"claudeAiOauth":{"accessToken":"a","expiresAt":"made-up"}}'],
  ])('is refused with a message that quotes nothing: %s (%#)', async (reason, content) => {
    const env = homeWith(content);
    const file = path.join(env.HOME, '.claude/.credentials.json');
    expect(await problemOf(find(env))).toBe(
      `CREDENTIALS_INVALID: The login of Claude Code in ${file} cannot be used: ${reason}.`,
    );
  });

  it('is refused with the reason when it cannot be read', async () => {
    const env = homeWith(undefined);
    mkdirSync(path.join(env.HOME, '.claude/.credentials.json'));
    expect(await problemOf(find(env))).toMatch(/^FILE_UNREADABLE: .*credentials\.json cannot be read/);
  });
});

describe('a login in the macOS keychain', () => {
  const ASKED = 'test "$*" = "find-generic-password -s Claude Code-credentials -w" || exit 1';

  it('is found there, and handed over like one from a file', async () => {
    const PATH = fakeSecurity(`${ASKED}\n${said(loginOf('made-up-access'))}`);
    const found = await find({ ...homeWith(undefined), PATH }, 'darwin');
    expect(found).toMatchObject({ source: 'the macOS keychain', secrets: ['made-up-access'], expired: false });
    expect(found?.files[0]?.content).not.toContain('made-up-refresh');
  });

  it('is read from hexadecimal digits, which the system prints when it is not plain ASCII', async () => {
    const PATH = fakeSecurity(said(Buffer.from(loginOf('made-up-ü')).toString('hex')));
    expect((await find({ ...homeWith(undefined), PATH }, 'darwin'))?.secrets).toEqual(['made-up-ü']);
  });

  it('is read on macOS only, and only when no other login is found', async () => {
    const PATH = fakeSecurity('touch "$HOME/asked"; exit 1');
    expect(await find({ ...homeWith(undefined), PATH }, 'linux')).toBeUndefined();
    expect((await find({ ...homeWith(loginOf('made-up-file')), PATH }, 'darwin'))?.secrets).toEqual(['made-up-file']);
  });

  it('replaces one in a file that has expired, unless it has expired too', async () => {
    const home = homeWith(loginOf('made-up-file', EARLIER));
    const fresh = fakeSecurity(said(loginOf('made-up-keychain')));
    const stale = fakeSecurity(said(loginOf('made-up-keychain', EARLIER)));
    expect((await find({ ...home, PATH: fresh }, 'darwin'))?.secrets).toEqual(['made-up-keychain']);
    expect((await find({ ...home, PATH: stale }, 'darwin'))?.secrets).toEqual(['made-up-file']);
  });

  it('is that of the configuration folder when CLAUDE_CONFIG_DIR is set', async () => {
    const CLAUDE_CONFIG_DIR = tempFolder();
    const hash = createHash('sha256').update(CLAUDE_CONFIG_DIR).digest('hex').slice(0, 8);
    const PATH = fakeSecurity(`test "$3" = "Claude Code-credentials-${hash}" && ${said(loginOf('made-up-access'))}`);
    const found = await find({ ...homeWith(undefined), PATH, CLAUDE_CONFIG_DIR }, 'darwin');
    expect(found?.secrets).toEqual(['made-up-access']);
  });

  it('is missing when the keychain has no such item, or there is no keychain', async () => {
    const PATH = fakeSecurity('echo "could not be found" >&2; exit 44');
    expect(await find({ ...homeWith(undefined), PATH }, 'darwin')).toBeUndefined();
    expect(await find(homeWith(undefined), 'darwin')).toBeUndefined();
  });

  it('is refused with a reason that quotes nothing when it cannot be read', async () => {
    const locked = fakeSecurity('echo "User interaction is not allowed." >&2; exit 36');
    expect(await problemOf(find({ ...homeWith(undefined), PATH: locked }, 'darwin'))).toContain(
      'the macOS keychain cannot be used: security: exit status 36, User interaction is not allowed.',
    );
    const odd = fakeSecurity(said('made-up-token'));
    expect(await problemOf(find({ ...homeWith(undefined), PATH: odd }, 'darwin'))).toContain('it is not JSON');
  });
});
