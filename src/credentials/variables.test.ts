import { describe, expect, it } from 'vitest';
import { workerVariables } from './variables.ts';

const ENV = {
  TZ: 'Europe/Berlin',
  NO_COLOR: '1',
  ANTHROPIC_BASE_URL: 'http://gateway.test:8080',
  ANTHROPIC_DEFAULT_OPUS_MODEL: 'some-model',
  MAX_THINKING_TOKENS: '8000',
  ANTHROPIC_API_KEY: 'made-up-key',
  CLAUDE_CODE_OAUTH_TOKEN: 'made-up-token',
  AWS_SECRET_ACCESS_KEY: 'made-up-aws',
  LANG: 'de_DE.UTF-8',
  PATH: '/bin',
  HOME: '/home/me',
  EDITOR: 'vi',
  EMPTY: '',
  UNSET: undefined,
};

const HARMLESS = {
  TZ: 'Europe/Berlin',
  NO_COLOR: '1',
  ANTHROPIC_BASE_URL: 'http://gateway.test:8080',
  ANTHROPIC_DEFAULT_OPUS_MODEL: 'some-model',
  MAX_THINKING_TOKENS: '8000',
};

const REFUSED =
  'PATH HOME LD_PRELOAD DYLD_INSERT_LIBRARIES NODE_OPTIONS BASH_ENV GIT_DIR GIT_CONFIG_COUNT GIT_SSH_COMMAND DOCKER_HOST SSH_AUTH_SOCK https_proxy NO_PROXY NODE_EXTRA_CA_CERTS CLAUDE_CONFIG_DIR MAHABHARATHA_HANDOVER IS_SANDBOX TMPDIR XDG_RUNTIME_DIR'.split(
    ' ',
  );

describe('the variables of a worker', () => {
  it('are a list of harmless ones, none of them a credential or a path of this machine', () => {
    expect(workerVariables({ env: ENV, names: [] })).toEqual({ env: HARMLESS, secrets: [], missing: [], problems: [] });
  });

  it('are also those that the user names, credentials included; those that are not set are reported', () => {
    const names = ['EDITOR', 'LANG', 'EMPTY', 'AWS_SECRET_ACCESS_KEY', 'UNSET', 'NEVER_HEARD_OF', 'EDITOR'];
    expect(workerVariables({ env: ENV, names })).toEqual({
      env: { ...HARMLESS, EDITOR: 'vi', LANG: 'de_DE.UTF-8', EMPTY: '', AWS_SECRET_ACCESS_KEY: 'made-up-aws' },
      secrets: ['made-up-aws'],
      missing: ['UNSET', 'NEVER_HEARD_OF'],
      problems: [],
    });
  });

  it.each([
    'API_KEY',
    'SOME_APIKEY',
    'GITHUB_TOKEN',
    'client_secret',
    'DB_PASSWORD',
    'PGPASS',
    'MYSQL_PWD',
    'GOOGLE_CREDENTIALS',
    'PRIVATE_PEM',
    'NPM_AUTH',
    'GH_PAT',
    'SENTRY_DSN',
  ])('hide the value of %s', (name) => {
    expect(workerVariables({ env: { [name]: 'made-up' }, names: [name] }).secrets).toEqual(['made-up']);
  });

  it.each(['AUTHOR', 'COMPAT_LEVEL', 'EDITOR', 'REGION'])('show the value of %s', (name) => {
    expect(workerVariables({ env: { [name]: 'made-up' }, names: [name] }).secrets).toEqual([]);
  });

  it('hide the password in an address, as it is written there and decoded', () => {
    const env = {
      DATABASE_URL: 'postgres://me:made%2Fup@db.test/x',
      ANTHROPIC_BASE_URL: 'https://me:gate-word@gateway.test',
      CACHE_URL: 'redis://:not%zzencoded@cache.test',
      PLAIN_URL: 'https://gateway.test/a:b@c',
    };
    const names = ['DATABASE_URL', 'CACHE_URL', 'PLAIN_URL'];
    const variables = workerVariables({ env, names });
    expect(new Set(variables.secrets)).toEqual(new Set(['made%2Fup', 'made/up', 'not%zzencoded']));
    // This one is for the agent alone.
    expect(Object.keys(variables.env).toSorted()).toEqual(names.toSorted());
  });

  it('hide the passwords of all addresses in a list, and a token that stands alone in a web address', () => {
    const env = {
      PIP_EXTRA_INDEX_URL: 'https://pypi.test/simple https://me:second-word@other.test/simple',
      GOPROXY: 'https://a:first-word@one.test,https://b:next-word@two.test,direct',
      PIP_INDEX_URL: 'https://made-up-token@index.test/simple',
      FURY_URL: 'https://made%2Dup-2:@fury.test/',
      REMOTE_URL: 'https://made-up-3:x-oauth-basic@git.test/me/it.git',
      DATABASE_URL: 'postgres://postgres@db.test/x',
      WEB_URL: 'https://gateway.test/@scope?x=a@b',
    };
    expect(new Set(workerVariables({ env, names: Object.keys(env) }).secrets)).toEqual(
      new Set(
        'second-word first-word next-word made-up-token made%2Dup-2 made-up-2 made-up-3 x-oauth-basic'.split(' '),
      ),
    );
  });

  it.each(REFUSED)('are never %s, even when the user names it', (name) => {
    const variables = workerVariables({ env: { [name]: 'made-up' }, names: [name] });
    expect(variables).toMatchObject({ env: {}, secrets: [], missing: [] });
    expect(variables.problems).toEqual([expect.stringMatching(`^${name} cannot be handed to workers: [a-z].+`)]);
  });

  it('may name the committer', () => {
    const env = { GIT_AUTHOR_NAME: 'Me', GIT_COMMITTER_EMAIL: 'me@example.test' };
    expect(workerVariables({ env, names: Object.keys(env) })).toMatchObject({ env, problems: [] });
  });
});
