import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { npmWith } from '../../../test/support/npm.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { egressOrders } from '../../protocol/index.ts';
import { isAllowed } from './allowlist.ts';
import { proxyEnvironment } from './environment.ts';
import { readNpmHosts } from './npm-hosts.ts';
import { proxyProgram } from './program.ts';
import { egressRules } from './rules.ts';

const LISTING = `registry = "https://me:***@packages.test/npm/"
@acme:registry = "http://10.0.0.7:4873/"
`;

const npmrc = (...lines: string[]): string => {
  const folder = tempFolder();
  writeFileSync(path.join(folder, '.npmrc'), `${lines.join('\n')}\n`);
  return folder;
};

describe('the registries of npm', () => {
  it('are none when npm cannot be asked, with a warning', async () => {
    const { registries, warnings } = await readNpmHosts({ PATH: '/nowhere' }, tempFolder());
    expect(registries).toEqual([]);
    expect(warnings).toEqual([
      expect.stringContaining('The preset "npm" in workers.container.allow is empty (npm could not be started)'),
    ]);
  });

  it('are missed in the words of those who miss them: a server has no workers', async () => {
    const asked = { allow: ['npm', 'localhost:80'], env: { PATH: '/nowhere' }, repository: npmrc('registry=x') };
    for (const setting of ['serve.network.allow', null]) {
      const { warnings } = await egressRules({ ...asked, audience: { setting, who: 'sessions' } });
      expect(warnings).toHaveLength(3);
      expect(warnings.join('\n')).not.toMatch(/worker/);
      expect(warnings[1]).toContain(setting ?? 'No packages of npm can be installed, because npm on this machine');
    }
  });

  it('of the repository are allowed at public addresses only, and are named: others can write its file', async () => {
    const repository = npmrc(
      'registry=https://new.test/x/',
      '@meta:registry=http://169.254.169.254/',
      '@a:registry=http://10.0.0.8/',
    );
    const env = npmWith(LISTING);
    const { registries, project, registry } = await readNpmHosts(env, repository);
    expect(registries.map(String)).toEqual(['https://packages.test/', 'http://10.0.0.7:4873/']);
    expect(project.map(({ host }) => host)).toEqual(['new.test', '169.254.169.254', '10.0.0.8']);
    expect(registry).toBe('https://new.test/x/');
    const { rules, warnings } = await egressRules({ allow: ['npm'], env, repository });
    const trust = Object.fromEntries(rules.map(({ host, trustedPrivate }) => [host, trustedPrivate]));
    expect(trust).toEqual({ 'packages.test': true, '10.0.0.7': true, 'new.test': false });
    expect(warnings).toEqual([expect.stringMatching(/\.npmrc of the repository names registries .*new\.test/)]);
  });

  it('of the repository that name a variable are not followed: workers keep the registry of the user', async () => {
    const repository = npmrc('registry=https://${AWS_SECRET_ACCESS_KEY}.test/');
    const env = { ...npmWith(LISTING), AWS_SECRET_ACCESS_KEY: 'made-up-secret' };
    const told = await egressRules({ allow: ['npm'], env, repository });
    expect(told.env).toEqual({ npm_config_registry: 'https://packages.test/npm/' });
    expect(told.rules.map(({ host }) => host)).toEqual(['packages.test', '10.0.0.7']);
    expect(told.warnings).toEqual([expect.stringContaining('line 1 ("registry") is not followed')]);
    expect(JSON.stringify(told)).not.toContain('made-up-secret');
  });

  it('of the repository do not go before what the environment says', async () => {
    const env = { ...npmWith(LISTING), NPM_CONFIG_REGISTRY: 'https://packages.test/npm/' };
    const { registry } = await readNpmHosts(env, npmrc('registry=https://new.test/'));
    expect(registry).toBe('https://packages.test/npm/');
  });
});

describe('the rules', () => {
  it('have the list, the registries, and the model server that the user has set', async () => {
    const env = { ...npmWith(LISTING), ANTHROPIC_BASE_URL: 'http://192.168.1.9:8000/v1' };
    const { rules, warnings } = await egressRules({ allow: ['npm', 'example.org'], env, repository: tempFolder() });
    expect(warnings).toEqual([]);
    expect(rules).toEqual([
      { host: 'example.org', covers: 'host', ports: [443, 80], trustedPrivate: false },
      { host: 'packages.test', covers: 'host', ports: [443], trustedPrivate: true },
      { host: '10.0.0.7', covers: 'host', ports: [4873], trustedPrivate: true },
      { host: '192.168.1.9', covers: 'host', ports: [8000], trustedPrivate: true },
    ]);
    expect(isAllowed(rules, 'packages.test', 80)).toBe(false);
  });

  it('do not ask npm when it is not listed', async () => {
    const { rules, warnings } = await egressRules({ allow: ['anthropic'], env: { PATH: '/nowhere' }, repository: '/' });
    expect([rules.length, warnings]).toEqual([1, []]);
  });

  it.each(['http://localhost:8000', 'http://127.0.0.1:8000', 'http://[::1]:8000', 'http://0x7f.1:8000'])(
    'warn of a model server that no container can reach: %s',
    async (url) => {
      const env = { ANTHROPIC_BASE_URL: url };
      const { warnings } = await egressRules({ allow: [], env, repository: '/' });
      expect(warnings).toEqual([
        expect.stringMatching(/^ANTHROPIC_BASE_URL \(.*:8000\) is this machine's own loopback/),
      ]);
    },
  );

  it('are refused as a whole when one entry cannot be read, and every such entry is named', async () => {
    const asked = egressRules({ allow: ['*', '', 'example.org', 'nmp', '10.0.0.1'], env: {}, repository: '/' });
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
      { access: false },
    );
    expect(command.slice(0, 2)).toEqual(['/opt/mahabharatha/node', '/opt/mahabharatha/egress.mjs']);
    expect(egressOrders.parse(JSON.parse(env['MAHABHARATHA_EGRESS'] ?? ''))).toEqual({
      version: 1,
      leaseMs: 30_000,
      rules,
      access: false,
    });
  });
});

it('the environment of a container names the proxy in every spelling, and exempts the loopback', () => {
  const env = proxyEnvironment(3128);
  expect(new Set([env['HTTP_PROXY'], env['https_proxy'], env['YARN_HTTPS_PROXY']])).toEqual(
    new Set(['http://127.0.0.1:3128']),
  );
  expect([env['NO_PROXY'], env['no_proxy']]).toEqual(['localhost,127.0.0.1,::1', 'localhost,127.0.0.1,::1']);
  // Yarn would stop at it.
  expect(env).not.toHaveProperty('YARN_NO_PROXY');
});
