import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bridgeAddress } from '../support/bridge.ts';
import { mcpForTest } from '../support/mcp.ts';
import type { McpClient } from '../support/mcp.ts';
import { startNpmRegistry } from '../support/npm-registry.ts';
import type { NpmRegistry } from '../support/npm-registry.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildBunImage, buildSandboxImage, docker } from '../support/worker-image.ts';

const engine = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' }).trim();
const exporting = (value: string) => ({ files: { 'index.js': `module.exports = ${JSON.stringify(value)};\n` } });

/** What a script of a package finds. */
const LOOK = `const { existsSync, readdirSync, writeFileSync } = require('fs');
const status = async (url) => (await fetch(url).catch((error) => ({ status: String(error) }))).status;
(async () => {
  const [registry, other] = [await status(process.env.npm_config_registry), await status('http://example.org/')];
  const store = existsSync('/store/sets') || existsSync('/downloads') ? 'there' : 'missing';
  const home = readdirSync(process.env.HOME).filter((name) => name !== 'downloads' && name !== '.bun').length === 0 ? 'empty' : 'full';
  writeFileSync('found.json', JSON.stringify('registry ' + registry + ' other ' + other + ' store ' + store + ' home ' + home));
})();
`;

/** Code of the greatest size. */
const long = (mark: string): string => `console.log("${mark}"); // ${'€'.repeat(2 ** 20 - 60)}`;

const PACKAGES = {
  a: exporting('a'),
  one: exporting('one'),
  two: { ...exporting('two'), version: '2.3.4' },
  'only-esm': {
    files: { 'index.js': 'export default "esm";\n', 'deep/part.js': 'export const part = "part";\n' },
    more: { type: 'module', exports: { '.': './index.js', './part': './deep/part.js' } },
  },
  '@scope/three': exporting('three'),
  'has-script': {
    files: { 'index.js': 'module.exports = require("fs").existsSync(__dirname + "/ran");\n' },
    more: { scripts: { postinstall: 'touch ran' } },
  },
  'has-other-script': {
    files: { 'index.js': 'module.exports = require("fs").existsSync(__dirname + "/ran");\n' },
    more: { scripts: { postinstall: 'touch ran; touch /store/reached' } },
  },
  'looks-around': {
    files: { 'index.js': 'module.exports = require("./found.json");\n', 'look.js': LOOK },
    more: { scripts: { postinstall: 'bun look.js' } },
  },
  needs: {
    files: { 'index.js': 'module.exports = `with ${require("one")}`;\n' },
    more: { dependencies: { one: '1.0.0' } },
  },
  late: exporting('late'),
  unseen: exporting('unseen'),
  host: { files: { 'index.js': 'module.exports = { peer: {} };\n' } },
  plugin: {
    files: { 'index.js': 'module.exports = require("host").peer;\n' },
    more: { peerDependencies: { host: '*' } },
  },
  ...Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`side-${index}`, exporting(`side-${index}`)])),
  large: { files: { 'index.js': `module.exports = ${'"x".length;'.padEnd(40 * 1024 ** 2, ' ')}\n` } },
};

describe.skipIf(docker.why !== '')(`packages of npm in run_code${docker.why}`, () => {
  const home = mkdtempSync(path.join(tmpdir(), 'mahabharatha-mcp-home-'));
  const store = path.join(home, '.bun-runner-mcp', 'packages');
  let registry: NpmRegistry;
  let mcp: McpClient;
  const another = (more: Record<string, string> = {}): Promise<McpClient> =>
    mcpForTest({ HOME: home, npm_config_registry: registry.url, ...more });
  beforeAll(async () => {
    await buildSandboxImage();
    await buildBunImage();
    registry = await startNpmRegistry(bridgeAddress(), PACKAGES);
    mcp = await another();
  });
  afterAll(async () => {
    await mcp.leave();
    await registry.close();
    rmSync(home, { recursive: true });
  });

  it('installs what code imports before it runs, once for all sessions and servers', async () => {
    const code = 'import one from "one"; const two = require("two"); console.log(one, two);';
    const installed = [
      { name: 'one', version: '1.0.0' },
      { name: 'two', version: '2.3.4' },
    ];
    const first = await mcp.run(code);
    expect(first).toMatchObject({ stdout: 'one two\n', packages_installed: installed, error: null });
    const asked = registry.asked.length;
    expect(asked).toBeGreaterThan(0);
    expect(await mcp.run(code)).toMatchObject({ stdout: 'one two\n', packages_installed: [] });
    expect(await mcp.run(code, { session_id: 'b' })).toMatchObject({
      stdout: 'one two\n',
      packages_installed: installed,
    });
    const other = await another();
    expect((await other.run('import two from "two"; console.log(two)')).stdout).toBe('two\n');
    await other.leave();
    expect(registry.asked).toHaveLength(asked);
  });

  it('finds packages that are ES modules alone, their parts, those with a scope, and what packages need', async () => {
    const code = `import esm from 'only-esm'; import { part } from 'only-esm/part'; import three from '@scope/three';
import needs from 'needs'; import { peer } from 'host'; import same from 'plugin';
console.log(esm, part, three, needs, peer === same, require.resolve('@scope/three').length > 0);`;
    expect(await mcp.run(code, { session_id: 'kinds' })).toMatchObject({
      stdout: 'esm part three with one true true\n',
      exit_code: 0,
    });
    const text = `console.log("import x from 'nothing'"); import type { T } from 'nothing-too'; // require('nor-this')`;
    expect(await mcp.run(text, { session_id: 'kinds' })).toMatchObject({ exit_code: 0, packages_installed: [] });
  });

  it('installs one version when it is asked for, and lists what there is', async () => {
    const asked = await mcp.call('install_packages', { packages: ['two@^2.0.0', '@scope/three'], session_id: 'v' });
    expect(asked.structuredContent).toEqual({
      installed: [
        { name: 'two', version: '2.3.4' },
        { name: '@scope/three', version: '1.0.0' },
      ],
      error: null,
    });
    expect((await mcp.run('import two from "two"; console.log(two)', { session_id: 'v' })).stdout).toBe('two\n');
    const { structuredContent: list } = await mcp.call('list_packages', { session_id: 'v' });
    expect(list).toMatchObject({ session: [{ name: 'two' }, { name: '@scope/three' }] });
    expect((list as { cached: unknown[] }).cached).toContainEqual({ name: 'one', version: '1.0.0' });
    const none = await mcp.call('install_packages', { packages: ['two@9'], session_id: 'v' });
    expect(none.isError).toBe(true);
    expect(JSON.stringify(none)).toContain('\\"two\\" could not be installed');
  });

  it('names the package that there is not, and does not run the code', async () => {
    const code = 'import one from "one"; import gone from "no-such-package"; console.log("ran", one, gone);';
    const ran = await mcp.run(code, { session_id: 'gone' });
    expect(ran).toMatchObject({ stdout: '', exit_code: 1 });
    expect(ran.error).toMatch(/^"no-such-package" could not be installed, and the code was not run/);
    expect((await mcp.run('import one from "one"; console.log(one)', { session_id: 'gone' })).stdout).toBe('one\n');
  });

  it.each([
    '--global',
    '-g',
    'one; touch /tmp/x',
    '$(id)',
    '`id`',
    'git+https://example.org/x.git',
    'file:/etc',
    '../../etc',
    '/etc/passwd',
    'one@npm:two',
    'one@file:/etc',
    'one@http://127.0.0.1/x.tgz',
    'one@--registry=http://127.0.0.1',
    'user/repository',
    'one\ntwo',
    '__proto__',
    'node_modules',
    ' ',
  ])('a name that is no name of a package is refused before anything is asked: %j', async (name) => {
    const asked = registry.asked.length;
    const answer = await mcp.call('install_packages', { packages: [name] });
    expect(answer.isError, JSON.stringify(answer)).toBe(true);
    expect(answer.structuredContent).toMatchObject({ installed: [], error: expect.stringContaining('is refused') });
    if (!/^[./]|:/.test(name) && name !== 'user/repository') {
      const ran = await mcp.run(`import x from ${JSON.stringify(name)}; console.log("ran", x)`);
      expect(ran).toMatchObject({ stdout: '', error: expect.stringContaining('is refused') });
    }
    expect(registry.asked).toHaveLength(asked);
  });

  it('runs no script of a package', async () => {
    const code = 'import ran from "has-script"; console.log(ran)';
    expect((await mcp.run(code, { session_id: 'script' })).stdout).toBe('false\n');
  });

  it('what code writes below /packages is of its session alone', async () => {
    const attack = `import one from 'one'; import { rmSync, writeFileSync, mkdirSync, realpathSync, chmodSync } from 'node:fs';
const place = realpathSync('/packages/node_modules/one'); const codes: unknown[] = [one, place.startsWith('/store/')];
for (const act of [() => writeFileSync(place + '/index.js', 'x'), () => rmSync(place, { recursive: true }), () => chmodSync(place, 0o777), () => writeFileSync('/store/x', '')])
  try { act(); codes.push('done'); } catch (error) { codes.push((error as { code: string }).code); }
rmSync('/packages/node_modules/one'); mkdirSync('/packages/node_modules/one');
writeFileSync('/packages/node_modules/one/index.js', 'module.exports = "evil"');
mkdirSync('/packages/node_modules/mine'); writeFileSync('/packages/node_modules/mine/index.js', 'module.exports = "mine"');
console.log(codes.join(' '));`;
    const { stdout, stderr } = await mcp.run(attack, { session_id: 'writes' });
    expect(stdout, stderr).toMatch(/^one true( (EROFS|EACCES|EPERM)){4}\n$/);
    const look = 'import one from "one"; console.log(one)';
    expect((await mcp.run(look, { session_id: 'beside' })).stdout).toBe('one\n');
    const own = await mcp.run('import one from "one"; import mine from "mine"; console.log(one, mine)', {
      session_id: 'writes',
    });
    expect(own).toMatchObject({ stdout: 'evil mine\n', packages_installed: [] });
    const fresh = await another();
    expect((await fresh.run(look)).stdout).toBe('one\n');
    await fresh.leave();
  });

  it('what a session has made itself hides the package of that name, which is not installed then', async () => {
    const session = { session_id: 'hides' };
    const write = `import { mkdirSync, writeFileSync } from 'node:fs'; mkdirSync('/packages/node_modules/one', { recursive: true });
for (const file of ['one/index.js', 'two.js']) writeFileSync('/packages/node_modules/' + file, 'module.exports = "mine"');`;
    await mcp.run(write, session);
    const use = 'import one from "one?again"; import two from "two"; console.log(one, two)';
    expect(await mcp.run(use, session)).toMatchObject({ stdout: 'mine mine\n', packages_installed: [] });
  });

  it('code with packages has no network', async () => {
    const code = `import one from 'one'; console.log(one, process.env.HTTPS_PROXY);
await fetch('${registry.url}one').then(() => console.log('reached'), () => console.log('none'));`;
    expect((await mcp.run(code)).stdout).toBe('one undefined\nnone\n');
  });

  it('a session whose container was replaced has its packages still', async () => {
    const code = 'import one from "one"; console.log(one)';
    await mcp.run(code, { session_id: 'replaced' });
    await mcp.run('for (;;);', { session_id: 'replaced', timeout_ms: 500 });
    expect(await mcp.run(code, { session_id: 'replaced' })).toMatchObject({ stdout: 'one\n', packages_installed: [] });
  });

  it('six installations at once from two servers all succeed', async () => {
    const other = await another();
    const calls = Array.from({ length: 6 }, async (_, index) => {
      const code = `import x from "side-${index}"; console.log(x)`;
      return (index % 2 === 0 ? mcp : other).run(code, { session_id: `s${index}` }).then(({ stdout }) => stdout);
    });
    expect(await Promise.all(calls)).toEqual(calls.map((_, index) => `side-${index}\n`));
    await other.leave();
  });

  it('a server that is killed during an installation leaves nothing that is used', async () => {
    const killed = await another();
    registry.slow(3000);
    const packages = ['has-script', 'side-1', 'only-esm'];
    const call = killed.call('install_packages', { packages }).catch(() => undefined);
    await waitUntil('it installs', async () => readdirSync(path.join(store, 'drafts')).length > 0);
    process.kill(killed.pid, 'SIGKILL');
    await call;
    registry.slow(0);
    const labelled = `label=mahabharatha.mcp=${killed.home}/mahabharatha/mcp`;
    await waitUntil('its containers are gone', async () => engine('ps', '-aq', '--filter', labelled) === '');
    const again = await mcp.call('install_packages', { packages, session_id: 'after' });
    expect(again.structuredContent).toMatchObject({ installed: packages.map((name) => ({ name })), error: null });
    expect(readdirSync(path.join(store, 'drafts'))).toEqual([]);
    await killed.leave();
  });

  const installers = (): string =>
    engine(
      'ps',
      '-aq',
      '--filter',
      `label=mahabharatha.mcp=${mcp.home}/mahabharatha/mcp`,
      '--filter',
      'label=mahabharatha.role=installer',
    );
  it.each([
    ['when it has begun', () => readdirSync(path.join(store, 'drafts')).length > 0],
    ['when it asks the registry', () => registry.asked.includes('late')],
  ])('an installation that is called off %s ends, and the next one goes on', async (when, isSo) => {
    registry.asked.length = 0;
    registry.slow(300_000);
    const packages = ['side-5', when.includes('asks') ? 'late' : 'side-1'];
    const off = new AbortController();
    const call = mcp.call('install_packages', { packages, session_id: when.slice(-5).trim() }, { signal: off.signal });
    await waitUntil('it is so', async () => isSo());
    off.abort();
    await expect(call).rejects.toThrow();
    await waitUntil(
      'its container is gone',
      async () => readdirSync(path.join(store, 'drafts')).length === 0 && installers() === '',
    );
    registry.slow(0);
    const next = await mcp.call('install_packages', { packages, session_id: 'again' });
    expect(next.structuredContent).toMatchObject({ error: null });
  });

  it('an installation that waits for another one can be called off', async () => {
    registry.slow(300_000);
    const [first, second] = [new AbortController(), new AbortController()];
    const call = (name: string, off: AbortController): Promise<unknown> =>
      mcp.call('install_packages', { packages: [name, 'unseen'], session_id: name }, { signal: off.signal });
    const one = call('one', first);
    await waitUntil('it installs', async () => readdirSync(path.join(store, 'drafts')).length > 0);
    const other = call('two', second);
    second.abort();
    await expect(other).rejects.toThrow();
    const { structuredContent } = await mcp.call('list_packages', { session_id: 'two' });
    expect(structuredContent).toMatchObject({ session: [] });
    const run = await mcp.run('console.log("next")', { session_id: 'two' });
    expect(run.stdout).toBe('next\n');
    first.abort();
    await expect(one).rejects.toThrow();
    registry.slow(0);
  });

  it('a folder of packages that was removed is made again, also for sessions that have used it', async () => {
    const folder = path.join(home, 'removed');
    const other = await withPackages({ folder });
    expect((await other.run('import one from "one"; console.log(one)', { session_id: 'a' })).stdout).toBe('one\n');
    for (const session_id of ['a', 'b']) {
      rmSync(folder, { recursive: true });
      expect((await other.run('import one from "one"; console.log(one)', { session_id })).stdout).toBe('one\n');
    }
    rmSync(folder, { recursive: true });
    expect((await other.call('list_packages', { session_id: 'a' })).structuredContent).toMatchObject({ cached: [] });
    const again = await other.call('install_packages', { packages: ['two'], session_id: 'a' });
    expect(again.structuredContent).toMatchObject({ installed: [{ name: 'two' }], error: null });
    expect((await other.run('import two from "two"; console.log(two)', { session_id: 'a' })).stdout).toBe('two\n');
    await other.leave();
  });

  it('only packages that are named by the installer are blamed', async () => {
    await mcp.call('install_packages', { packages: ['a'], session_id: 'blame' });
    const { error } = await mcp.run('import x from "no-such-a-package"; console.log(x)', { session_id: 'blame' });
    expect(error).toMatch(/^"no-such-a-package" could not be installed/);
  });

  it('links that code has removed are made again, and what cannot be linked is said', async () => {
    const session = { session_id: 'links' };
    const use = 'import one from "one"; console.log(one)';
    await mcp.run(use, session);
    await mcp.run('require("node:fs").rmSync("/packages/node_modules", { recursive: true })', session);
    expect((await mcp.run(use, session)).stdout).toBe('one\n');
    const fill = `const { appendFileSync, rmSync } = require('node:fs'); rmSync('/packages/node_modules', { recursive: true });
try { for (let i = 0; ; i++) appendFileSync('/packages/f' + i, ''); } catch {}
try { for (;;) appendFileSync('/packages/x', 'x'.repeat(1 << 20)); } catch {}`;
    await mcp.run(fill, { ...session, timeout_ms: 60_000 });
    expect((await mcp.run(use, session)).error).toMatch(/could not be prepared in its session.*ENOSPC/s);
  });

  it('code of the greatest size runs in turn with others of that size', async () => {
    for (const mark of ['a', 'b', 'c'])
      for (const language of ['typescript', 'javascript'])
        expect((await mcp.run(long(mark), { session_id: 'long', language })).stdout).toBe(`${mark}\n`);
  });

  const withPackages = (settings: Readonly<Record<string, unknown>>): Promise<McpClient> => {
    const file = path.join(mkdtempSync(path.join(home, 'config-')), 'config.yaml');
    writeFileSync(file, JSON.stringify({ mcp: { packages: settings } }));
    return mcpForTest({ HOME: home, npm_config_registry: registry.url }, ['--config', file]);
  };

  it('scripts of packages that are named run, in the container that installs, and others do not', async () => {
    const allowing = await withPackages({ allow_scripts: ['has-script'] });
    const code = `import one from 'has-script'; import two from 'has-other-script';
console.log(one, two, await Bun.file('/store/reached').exists());`;
    expect(await allowing.run(code)).toMatchObject({ stdout: 'true false false\n', error: null });
    const look = `import text from 'looks-around'; console.log(text);`;
    const around = await withPackages({ allow_scripts: ['looks-around'] });
    const { stdout, error } = await around.run(look);
    expect(stdout, String(error)).toBe('registry 404 other 403 store missing home empty\n');
    expect((await mcp.run('import ran from "has-script"; console.log(ran)', { session_id: 'plain' })).stdout).toBe(
      'false\n',
    );
    await Promise.all([allowing.leave(), around.leave()]);
  });

  it('packages that are too large are not installed, and a store that is full says so', async () => {
    const small = await withPackages({ folder: path.join(home, 'small'), disk: '24m' });
    expect((await small.run('import one from "one"; console.log(one)')).stdout).toBe('one\n');
    const ran = await small.run('import large from "large"; console.log(large)');
    expect(ran).toMatchObject({ stdout: '', exit_code: 1 });
    expect(ran.error).toMatch(/^"one", "large" with what they need are larger than \d+(\.\d+)? MiB/);
    await small.leave();
    writeFileSync(path.join(home, 'small', 'fill'), Buffer.alloc(30 * 1024 ** 2));
    const full = await withPackages({ folder: path.join(home, 'small'), disk: '24m' });
    expect((await full.run('import one from "one"; console.log(one)')).stdout).toBe('one\n');
    expect((await full.run('import two from "two"; console.log(two)')).error).toMatch(/hold .* the limit is 24 MiB/);
    await full.leave();
  });

  it('a full disk is said, and what is there goes on working', async () => {
    const disk = mountSmallDisk(16);
    if (disk === undefined) return;
    const small = await another({ HOME: disk.folder });
    try {
      expect((await small.run('import one from "one"; console.log(one)')).stdout).toBe('one\n');
      const ran = await small.run('import large from "large"; console.log(large)', { session_id: 'large' });
      expect(ran).toMatchObject({ stdout: '', exit_code: 1 });
      expect(ran.error).toMatch(/^"large" could not be installed.* disk of the packages is full/s);
      expect((await small.run('import one from "one"; console.log(one)')).stdout).toBe('one\n');
    } finally {
      await small.leave();
      disk.remove();
    }
  });
});
