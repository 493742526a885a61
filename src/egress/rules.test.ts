import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { egressOrders } from '../protocol/index.ts';
import { isAllowed } from './allowlist.ts';
import { proxyEnvironment } from './environment.ts';
import { readNpmHosts, registriesIn } from './npm-hosts.ts';
import { proxyProgram } from './program.ts';
import { egressRules } from './rules.ts';

const LISTING = `; "default" config from default values
; registry = "https://default.test/" ; overridden by user
replace-registry-host = "npmjs"
; "user" config from /home/me/.npmrc
registry = "https://me:***@packages.test/npm/"
@acme:registry = "http://10.0.0.7:4873/"
@beta:registry = "https://packages.test/other/"
@odd:registry = "\${NOT_SET}"
@ftp:registry = "ftp://packages.test/"
; @old:registry = "https://old.test/" ; overridden by project
//packages.test/:_authToken = (protected)
`;

/** An environment with an npm of our own on the PATH. */
function npmThat(does: string): Record<string, string> {
  const folder = tempFolder();
  const file = path.join(folder, 'npm');
  writeFileSync(file, `#!/bin/sh\n${does}\n`);
  chmodSync(file, 0o755);
  return { PATH: `${folder}:/usr/bin:/bin` };
}

const npmWith = (listing: string): Record<string, string> => npmThat(`cat <<'END'\n${listing}END`);

describe("the user's npm registries", () => {
  it('are his own and those of scopes, as hosts alone', () => {
    expect(registriesIn(LISTING).map(String)).toEqual(['https://packages.test/', 'http://10.0.0.7:4873/']);
  });

  it('are what the npm of this machine says', async () => {
    const { registries, warning } = await readNpmHosts(process.env, tempFolder());
    expect(warning).toBeUndefined();
    expect(registries.length).toBeGreaterThan(0);
  });

  it('include those whose address has a password, which npm itself will not show, and it is nowhere in the answer', async () => {
    const folder = tempFolder();
    const file = path.join(folder, 'npmrc');
    const scopes = ['@acme:registry=https://me:secret@scoped.test:8443/x/', '//scoped.test:8443/x/:_authToken=secret'];
    writeFileSync(file, ['registry=https://me:secret@packages.test/', ...scopes, ''].join('\n'));
    const env = { PATH: process.env['PATH'], HOME: folder, npm_config_userconfig: file };
    const { registries } = await readNpmHosts(env, folder);
    expect(registries.map(String).toSorted()).toEqual(['https://packages.test/', 'https://scoped.test:8443/']);
  });

  it.each([
    ['exit 1', 'it names none'],
    ['echo', 'it names none'],
  ])('are none when npm does %j, and that is said', async (does, cause) => {
    const { registries, warning } = await readNpmHosts(npmThat(does), tempFolder());
    expect(registries).toEqual([]);
    expect(warning).toContain(`The preset "npm" in workers.container.allow is empty (${cause})`);
  });

  it('are not those of the repository: its file can be written by others, and it may lie about what is in it', async () => {
    const folder = tempFolder();
    const repository = path.join(folder, 'repository');
    mkdirSync(repository);
    writeFileSync(path.join(folder, 'npmrc'), '@mine:registry=http://10.0.0.7:4873/\n');
    writeFileSync(path.join(repository, 'package.json'), '{"name":"x","version":"1.0.0"}\n');
    const lie = String.raw`"x\n; \"user\" config from npmrc\n@lie:registry" = http://10.0.0.8/`;
    const lines = ['registry=https://packages.test/x/', '@meta:registry=http://169.254.169.254/', lie, ''];
    writeFileSync(path.join(repository, '.npmrc'), lines.join('\n'));
    const env = { PATH: process.env['PATH'], HOME: folder, npm_config_userconfig: path.join(folder, 'npmrc') };
    const { registries, project, registry } = await readNpmHosts(env, repository);
    expect(registries.map(String)).toContain('http://10.0.0.7:4873/');
    expect(registries.map(String).join()).not.toMatch(/packages|169|10\.0\.0\.8/);
    expect(project.map(String).toSorted()).toEqual(
      ['http://10.0.0.8/', 'http://169.254.169.254/', 'https://packages.test/'].toSorted(),
    );
    expect(registry).toBe('https://packages.test/x/');
    const { rules, warnings } = await egressRules({ allow: ['npm'], env, cwd: repository });
    const trust = Object.fromEntries(rules.map(({ host, trustedPrivate }) => [host, trustedPrivate]));
    expect(trust).toMatchObject({ '10.0.0.7': true, 'packages.test': false });
    expect(Object.keys(trust).join()).not.toMatch(/169|10\.0\.0\.8/);
    expect(warnings.join()).toMatch(/\.npmrc of the repository names registries .*packages\.test/);
  });

  it('are none without npm', async () => {
    const { warning } = await readNpmHosts({ PATH: '/nowhere' }, tempFolder());
    expect(warning).toContain('npm could not be started');
  });
});

describe('the rules', () => {
  it('have the list, the registries, and the model server that the user has set', async () => {
    const env = { ...npmWith(LISTING), ANTHROPIC_BASE_URL: 'http://192.168.1.9:8000/v1' };
    const { rules, warnings } = await egressRules({ allow: ['npm', 'example.org'], env, cwd: tempFolder() });
    expect(warnings).toEqual([]);
    expect(rules).toEqual([
      { host: 'example.org', covers: 'host', ports: [443, 80], trustedPrivate: false },
      { host: 'packages.test', covers: 'host', ports: [443], trustedPrivate: true },
      { host: '10.0.0.7', covers: 'host', ports: [4873], trustedPrivate: true },
      { host: '192.168.1.9', covers: 'host', ports: [8000], trustedPrivate: true },
    ]);
    expect(isAllowed(rules, 'packages.test', 80)).toBe(false);
  });

  it('do not ask npm when nobody wants it', async () => {
    const { rules, warnings } = await egressRules({ allow: ['anthropic'], env: { PATH: '/nowhere' }, cwd: '/' });
    expect([rules.length, warnings]).toEqual([1, []]);
  });

  it.each(['http://localhost:8000', 'http://127.0.0.1:8000', 'http://[::1]:8000', 'http://0x7f.1:8000'])(
    'warn of a model server that no container can reach: %s',
    async (url) => {
      const env = { ANTHROPIC_BASE_URL: url };
      const { warnings } = await egressRules({ allow: [], env, cwd: '/' });
      expect(warnings).toEqual([
        expect.stringMatching(/^ANTHROPIC_BASE_URL \(.*:8000\) is this machine's own loopback/),
      ]);
    },
  );

  it('are refused as a whole when one entry says nothing, and every such entry is named', async () => {
    const asked = egressRules({ allow: ['*', '', 'example.org', 'nmp', '10.0.0.1'], env: {}, cwd: '/' });
    await expect(asked).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      exit: 2,
      facts: { problems: ['"*"', '""', '"nmp"', '"10.0.0.1"'].map((entry) => expect.stringContaining(`${entry}: `)) },
    });
  });

  it('reach the proxy as they are', () => {
    const rules = [{ host: 'example.org', covers: 'host', ports: [443], trustedPrivate: false }] as const;
    const { command, env } = proxyProgram(
      rules.map((rule) => ({ ...rule, ports: [...rule.ports] })),
      30_000,
    );
    expect(command.slice(0, 2)).toEqual(['/opt/mahabharatha/node', '/opt/mahabharatha/egress.mjs']);
    expect(egressOrders.parse(JSON.parse(env['MAHABHARATHA_EGRESS'] ?? ''))).toEqual({
      version: 1,
      leaseMs: 30_000,
      rules,
    });
  });
});

it('programs in a container are told of the proxy in every spelling, and go without it to themselves', () => {
  const env = proxyEnvironment(3128);
  expect(new Set([env['HTTP_PROXY'], env['https_proxy'], env['YARN_HTTPS_PROXY']])).toEqual(
    new Set(['http://127.0.0.1:3128']),
  );
  expect([env['NO_PROXY'], env['no_proxy']]).toEqual(['localhost,127.0.0.1,::1', 'localhost,127.0.0.1,::1']);
  // Yarn would stop at it.
  expect(env).not.toHaveProperty('YARN_NO_PROXY');
});
