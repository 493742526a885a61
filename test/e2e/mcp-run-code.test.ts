import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { containersOf, mcpForTest } from '../support/mcp.ts';
import type { McpClient } from '../support/mcp.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildBunImage, buildSandboxImage, docker } from '../support/worker-image.ts';

const engine = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' }).trim();
const factsOf = (id = ''): { HostConfig: Record<string, unknown>; Image: string } =>
  (JSON.parse(engine('inspect', id)) as [{ HostConfig: Record<string, unknown>; Image: string }])[0];

describe.skipIf(docker.why !== '')(`run_code in containers${docker.why}`, () => {
  let mcp: McpClient;
  beforeAll(async () => {
    await buildSandboxImage();
    await buildBunImage();
    mcp = await mcpForTest();
  });
  afterAll(async () => {
    const { pid } = mcp;
    const left = (): string[] => containersOf(mcp);
    await mcp.leave();
    expect(() => process.kill(pid, 0)).toThrow();
    expect(left()).toEqual([]);
  });

  it('offers its tools with schemas of what goes in and what comes out', async () => {
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'install_packages',
      'list_packages',
      'reset_session',
      'run_code',
    ]);
    for (const tool of tools)
      expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } });
  });

  it('Container mode enabled: code executes in a container, isolated from the host system', async () => {
    const code = `import { hostname } from 'node:os'; import { existsSync } from 'node:fs';
const parts: string[] = [hostname(), String(existsSync('${mcp.home}'))]; console.log(parts.join(' '));
try { await fetch('http://127.0.0.1:1'); } catch { console.log('no network'); }`;
    expect(await mcp.run(code)).toMatchObject({ stdout: 'sandbox false\nno network\n', exit_code: 0, error: null });
  });

  it('First execution starts a container, subsequent execution reuses it', async () => {
    expect((await mcp.run('await Bun.write("/packages/kept", "1")', { session_id: 'reuse' })).exit_code).toBe(0);
    const before = containersOf(mcp);
    const again = await mcp.run('console.log(await Bun.file("/packages/kept").text())', { session_id: 'reuse' });
    expect(again.stdout).toBe('1\n');
    expect(containersOf(mcp)).toEqual(before);
  });

  it('Base image exists: it is used without rebuilding', async () => {
    const image = engine('image', 'inspect', '--format', '{{.Id}}', 'bun-runner-base');
    await mcp.run('', { session_id: 'image' });
    for (const id of containersOf(mcp)) expect(factsOf(id).Image).toBe(image);
    expect((await mcp.run('console.log(Bun.version)')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('CPU limit and memory limit enforced: 2 CPUs and 512 MB by default', async () => {
    await mcp.run('');
    expect(factsOf(containersOf(mcp)[0]).HostConfig).toMatchObject({ NanoCpus: 2e9, Memory: 512 * 1024 ** 2 });
    const code = 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1))';
    const ran = await mcp.run(code, { session_id: 'memory' });
    expect(ran.exit_code, JSON.stringify(ran)).not.toBe(0);
    expect((await mcp.run('console.log(1)', { session_id: 'memory' })).stdout).toBe('1\n');
  });

  it('Timeout enforced: the container is terminated and the result indicates a timeout', async () => {
    await mcp.run('await Bun.write("/packages/kept", "1")', { session_id: 'slow' });
    const before = containersOf(mcp);
    const ran = await mcp.run('console.log("begun"); for (;;);', { session_id: 'slow', timeout_ms: 5000 });
    expect(ran).toMatchObject({ stdout: 'begun\n', exit_code: 124, timed_out: true });
    expect(ran.error).toContain('after 5000 ms');
    await waitUntil('it is gone', async () => before.some((id) => !containersOf(mcp).includes(id)));
    expect(
      (await mcp.run('console.log(await Bun.file("/packages/kept").exists())', { session_id: 'slow' })).stdout,
    ).toBe('false\n');
  });

  it('Code file mounted read-only at /code/main.ts, package cache mounted read-write at /packages', async () => {
    const code = `import { writeFileSync, unlinkSync, readFileSync } from 'node:fs';
console.log(import.meta.path, readFileSync('/code/main.ts', 'utf8').startsWith('import'));
for (const attack of [() => writeFileSync('/code/main.ts', ''), () => unlinkSync('/code/main.ts'), () => writeFileSync('/code/x', '')])
  try { attack(); console.log('done'); } catch (error) { console.log((error as NodeJS.ErrnoException).code); }
writeFileSync('/packages/x', '1'); console.log(readFileSync('/packages/x', 'utf8'));`;
    expect((await mcp.run(code)).stdout).toBe('/code/main.ts true\nEACCES\nEACCES\nEACCES\n1\n');
  });

  it('Successful execution output: stdout and stderr are returned', async () => {
    expect(await mcp.run('console.log("out"); console.error("err")')).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 0,
    });
  });

  it('Failed execution output: the error message, and what was printed before', async () => {
    const ran = await mcp.run('console.log("before"); throw new Error("no luck")');
    expect(ran).toMatchObject({ stdout: 'before\n', exit_code: 1 });
    expect(ran.stderr).toContain('error: no luck');
    const whole = await mcp.call('run_code', { code: 'process.exit(3)' });
    expect(whole).toMatchObject({ isError: true, structuredContent: { exit_code: 3 } });
  });

  it.each([
    ['killed', (id: string) => engine('kill', id)],
    ['removed', (id: string) => engine('rm', '--force', '--volumes', id)],
    ['paused', (id: string) => engine('pause', id)],
  ])('Container crash recovery: one that was %s is replaced, and execution proceeds normally', async (how, attack) => {
    await mcp.call('reset_session', { session_id: how });
    const before = containersOf(mcp);
    await mcp.run('', { session_id: how });
    const [own] = containersOf(mcp).filter((id) => !before.includes(id));
    attack(own ?? '');
    expect((await mcp.run('console.log("on")', { session_id: how })).stdout).toBe('on\n');
  });

  it('parallel calls never mix, in one session and in several', async () => {
    const calls = Array.from({ length: 12 }, async (_, index) => {
      const code = `await Bun.sleep(${index % 3}); console.log(${index})`;
      return (
        await mcp.run(code, {
          session_id: `side-${index % 4}`,
          language: index % 2 === 0 ? 'typescript' : 'javascript',
        })
      ).stdout;
    });
    expect(await Promise.all(calls)).toEqual(calls.map((_, index) => `${index}\n`));
  });

  it('code sees the same in the process that has waited for it as in one that was started for it', async () => {
    // Without anything that looks like an import, which would have a process started ahead also for the first call.
    const code = `const { readdirSync, readFileSync, readlinkSync } = process.getBuiltinModule('node:fs');
const linkOf = (name) => { try { return readlinkSync('/proc/self/fd/' + name).replace(/[0-9]+/g, 'N'); } catch { return ''; } };
const status = readFileSync('/proc/self/status', 'utf8').split('\\n').filter((line) => /^(Uid|Gid|Groups|Umask|Cap|NoNew)/.test(line));
const seen = { argv: process.argv, options: process.execArgv, main: Bun.main, cwd: process.cwd(), env: process.env,
  open: readdirSync('/proc/self/fd').map(linkOf).toSorted(), status, limits: readFileSync('/proc/self/limits', 'utf8') };
if (process.argv[2] !== 'child') {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  seen.child = spawnSync(process.execPath, [...process.execArgv, '/code/main.ts', 'child']).stdout.toString();
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const inWorker = 'process.getBuiltinModule("node:worker_threads").parentPort.postMessage(1)';
  seen.worker = await new Promise((done) => new Worker(inWorker, { eval: true }).on('message', done));
}
console.log(JSON.stringify(seen, null, 1), readFileSync('/proc/self/cmdline', 'utf8').includes('wait.js'));`;
    const first = await mcp.run(code, { session_id: 'same' });
    const second = await mcp.run(code, { session_id: 'same' });
    expect(first).toMatchObject({ exit_code: 0, stderr: '' });
    expect(first.stdout).toMatch(/ false\n$/);
    expect(second.stdout).toBe(first.stdout.replace(/ false\n$/, ' true\n'));
  });

  it('the newest code runs however quickly one call follows the other', async () => {
    const sizes = [0, 100_000, 3, 600_000];
    for (let index = 0; index < 40; index += 1) {
      const code = `//${'x'.repeat(sizes[index % sizes.length] ?? 0)}\nconsole.log(${index})`;
      const language = index % 5 === 4 ? 'javascript' : 'typescript';
      expect((await mcp.run(code, { session_id: 'quick', language })).stdout).toBe(`${index}\n`);
    }
  });

  it('a process that waits for code and is killed is not missed', async () => {
    await mcp.call('reset_session', { session_id: 'waits' });
    const others = containersOf(mcp);
    await mcp.run('console.log(1)', { session_id: 'waits' });
    const [own = ''] = containersOf(mcp).filter((id) => !others.includes(id));
    const waits = (): string[] =>
      engine('top', own, '-eo', 'pid,args')
        .split('\n')
        .filter((line) => line.includes('/bun-runner/wait.js'));
    await waitUntil('a process waits', async () => waits().length === 1);
    const [killed = ''] = waits();
    process.kill(Number.parseInt(killed, 10), 'SIGKILL');
    await waitUntil('it is gone', async () => !waits().includes(killed));
    expect(await mcp.run('console.log(2)', { session_id: 'waits' })).toMatchObject({ stdout: '2\n', exit_code: 0 });
  });

  it('settings of Bun that code leaves run nothing, neither between calls nor before the next one', async () => {
    const leave = `const { mkdirSync, writeFileSync } = require('node:fs');
writeFileSync('/packages/left.ts', 'require("node:fs").appendFileSync("/packages/ran", "1"); console.log("left")');
for (const folder of ['/packages', process.env.HOME, process.env.HOME + '/.config']) {
  mkdirSync(folder, { recursive: true });
  for (const name of ['bunfig.toml', '.bunfig.toml']) writeFileSync(folder + '/' + name, 'preload = ["/packages/left.ts"]');
}`;
    expect(await mcp.run(leave, { session_id: 'settings' })).toMatchObject({ exit_code: 0, stderr: '' });
    const look = 'console.log(require("node:fs").existsSync("/packages/ran"))';
    expect((await mcp.run('console.log(1)', { session_id: 'settings' })).stdout).toBe('1\n');
    for (let index = 0; index < 2; index += 1)
      expect((await mcp.run(look, { session_id: 'settings' })).stdout).toBe('false\n');
  });

  it('a call that is called off ends its program, and the session goes on', async () => {
    const controller = new AbortController();
    const code =
      'await Bun.write("/packages/begun", "1"); await Bun.sleep(60_000); await Bun.write("/packages/ended", "1")';
    const call = mcp.run(code, { session_id: 'off' }, controller.signal);
    setTimeout(() => controller.abort(), 1500);
    await expect(call).rejects.toThrow();
    const look = 'console.log(require("node:fs").readdirSync("/packages").includes("ended"))';
    expect((await mcp.run(look, { session_id: 'off' })).stdout).toBe('false\n');
  });

  it('variables are of one call alone', async () => {
    expect((await mcp.run('console.log(process.env.A)', { env: { A: 'x' } })).stdout).toBe('x\n');
    expect((await mcp.run('console.log(process.env.A)')).stdout).toBe('undefined\n');
  });

  it('what code prints is no message of the protocol, however much it looks like one', async () => {
    const fake = '{"jsonrpc":"2.0","id":1,"result":{}}';
    expect((await mcp.run(`console.log(${JSON.stringify(fake)})`)).stdout).toBe(`${fake}\n`);
    const flood = await mcp.run('for (let i = 0; i < 100000; i++) console.log("x".repeat(100))');
    expect(flood).toMatchObject({ truncated: true });
    expect(flood.stdout.length).toBeLessThan(2 ** 21);
  });

  it('a session that is reset begins anew', async () => {
    await mcp.run('await Bun.write("/packages/old", "1")', { session_id: 'again' });
    expect((await mcp.call('reset_session', { session_id: 'again' })).structuredContent).toEqual({ reset: true });
    expect((await mcp.call('reset_session', { session_id: 'again' })).structuredContent).toEqual({ reset: false });
    expect(
      (await mcp.run('console.log(await Bun.file("/packages/old").exists())', { session_id: 'again' })).stdout,
    ).toBe('false\n');
  });

  it('a server that is killed leaves nothing', async () => {
    const other = await mcpForTest();
    await other.run('');
    expect(containersOf(other)).toHaveLength(1);
    process.kill(other.pid, 'SIGKILL');
    await waitUntil('its container is gone', async () => containersOf(other).length === 0);
    await other.leave();
  });
});
