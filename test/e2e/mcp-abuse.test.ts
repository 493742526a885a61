import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mcpForTest } from '../support/mcp.ts';
import type { McpClient } from '../support/mcp.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildBunImage, buildSandboxImage, docker } from '../support/worker-image.ts';

const engine = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' }).trim();
const labelOf = ({ home }: McpClient): string => `label=mahabharatha.mcp=${home}/mahabharatha/mcp`;

/** Code that attacks, and what may be seen of its end. */
const ATTACKS: readonly (readonly [string, string, { readonly timeout_ms?: number }])[] = [
  ['an endless loop', 'for (;;);', { timeout_ms: 1500 }],
  ['a hang that waits for nothing', 'setInterval(() => {}, 1000);', { timeout_ms: 1500 }],
  ['a program that stops itself', 'process.kill(process.pid, "SIGSTOP"); for (;;);', { timeout_ms: 1500 }],
  ['a thread that never ends', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);', { timeout_ms: 1500 }],
  ['deep recursion', 'const f = (): number => f() + 1; f();', {}],
  ['all memory', 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1));', { timeout_ms: 20_000 }],
  [
    'a fork storm',
    `import { spawn } from 'node:child_process'; for (;;) { try { spawn('sh', ['-c', 'sh -c "sleep 60" & sh -c "sleep 60" & wait']).on('error', () => {}); } catch {} await Bun.sleep(1); }`,
    { timeout_ms: 5000 },
  ],
  [
    'children that leave their group',
    `import { spawn } from 'node:child_process'; spawn('setsid', ['sh', '-c', 'while :; do echo x >> /packages/still; sleep 0.05; done'], { detached: true, stdio: 'ignore' }).unref();`,
    {},
  ],
  ['a signal to all processes', 'try { process.kill(-1, "SIGKILL"); } catch (error) { console.log(error); }', {}],
  ['a signal to the first process', 'try { process.kill(1, "SIGKILL"); } catch (error) { console.log(error); }', {}],
  [
    'a full disk',
    `import { appendFileSync } from 'node:fs'; for (const at of ['/packages/x', '/tmp/x', '/home/sandbox/x']) try { for (;;) appendFileSync(at, 'x'.repeat(1 << 24)); } catch (error) { console.log((error as Error).message); }`,
    { timeout_ms: 20_000 },
  ],
  [
    'many files',
    `import { writeFileSync } from 'node:fs'; try { for (let i = 0; i < 1e6; i++) writeFileSync('/packages/f' + i, ''); } catch (error) { console.log((error as Error).message); }`,
    { timeout_ms: 20_000 },
  ],
  [
    'open files',
    `import { openSync } from 'node:fs'; try { for (;;) openSync('/dev/null'); } catch {}`,
    { timeout_ms: 20_000 },
  ],
  ['output without an end', 'for (;;) console.log("x".repeat(1 << 16));', { timeout_ms: 2000 }],
  [
    'frames of the agent',
    'for (let i = 0; i < 100; i++) process.stdout.write(Buffer.alloc(1000, i)); console.error("{}");',
    {},
  ],
  ['a rejection', 'Promise.reject(new Error("late")); await Bun.sleep(50);', {}],
  [
    'settings of Bun',
    `import { writeFileSync } from 'node:fs'; for (const at of ['/packages/bunfig.toml', '/home/sandbox/.bunfig.toml']) writeFileSync(at, 'preload = ["./evil.ts"]');`,
    {},
  ],
];

describe.skipIf(docker.why !== '')(`hostile code in run_code${docker.why}`, () => {
  let mcp: McpClient;
  beforeAll(async () => {
    await buildSandboxImage();
    await buildBunImage();
    mcp = await mcpForTest();
    await mcp.run('await Bun.write("/packages/mark", "kept")', { session_id: 'beside' });
  });
  afterAll(async () => {
    await mcp.leave();
  });
  afterEach(async () => {
    const look = 'console.log(await Bun.file("/packages/mark").text())';
    expect((await mcp.run(look, { session_id: 'beside' })).stdout).toBe('kept\n');
  });

  it.each(ATTACKS)('%s ends, and the next call of its session works', async (name, code, more) => {
    const session = { session_id: name.replaceAll(' ', '-') };
    const ran = await mcp.run(code, { ...session, ...more });
    expect(ran.stdout.length + ran.stderr.length).toBeLessThan(2 ** 21 + 1000);
    if (more.timeout_ms !== undefined && more.timeout_ms < 5000)
      expect(ran).toMatchObject({ timed_out: true, exit_code: 124 });
    const next = await mcp.run('console.log(await Bun.file("/packages/still").exists() ? "still" : "next")', session);
    if (name !== 'children that leave their group' && name !== 'settings of Bun') expect(next.stdout).toBe('next\n');
    await mcp.call('reset_session', session);
  });

  it('nothing of a call goes on after its end', async () => {
    const session = { session_id: 'left' };
    const code = `import { spawn } from 'node:child_process';
spawn('setsid', ['sh', '-c', 'while :; do date +%N > /packages/new; mv /packages/new /packages/time; sleep 0.02; done'], { detached: true, stdio: 'ignore' }).unref();
while (!(await Bun.file('/packages/time').exists())) await Bun.sleep(20);`;
    expect((await mcp.run(code, session)).exit_code).toBe(0);
    const look = `const at = () => Bun.file('/packages/time').text(); const before = await at(); await Bun.sleep(300); console.log(before !== '' && before === await at());`;
    expect((await mcp.run(look, session)).stdout).toBe('true\n');
  });

  it('the code of each session has a user of its own', async () => {
    const look = 'console.log(process.getuid?.(), require("node:fs").statSync("/packages").uid)';
    const seen = await Promise.all(
      ['one', 'two'].map(async (session_id) => (await mcp.run(look, { session_id })).stdout),
    );
    expect(new Set(seen).size).toBe(2);
    for (const text of seen) expect(text).toMatch(/^(\d{10}) \1\n$/);
  });

  it('calls beyond those that may wait are refused, and the others end', async () => {
    const session = { session_id: 'busy' };
    await mcp.run('', session);
    const calls = Array.from({ length: 24 }, async () => mcp.run('await Bun.sleep(50); console.log(1)', session));
    const ended = await Promise.all(calls);
    const refused = ended.filter(({ error }) => error?.includes('wait already') === true);
    expect(refused.length).toBeGreaterThan(0);
    expect(ended.filter(({ stdout }) => stdout === '1\n')).toHaveLength(24 - refused.length);
  });

  it.each([
    ['run_code', {}],
    ['run_code', { code: 5 }],
    ['run_code', { code: '', language: 'python' }],
    ['run_code', { code: '', session_id: '../../x' }],
    ['run_code', { code: '', session_id: '' }],
    ['run_code', { code: '', timeout_ms: -1 }],
    ['run_code', { code: '', timeout_ms: 1e12 }],
    ['run_code', { code: '', env: { 'A B': 'x' } }],
    ['run_code', { code: '', env: { A: 5 } }],
    ['install_packages', { packages: [] }],
    ['install_packages', { packages: 'zod' }],
  ])('%s refuses %j', async (name, args) => {
    const answer = await mcp.call(name, args).catch((error: unknown) => ({ isError: true, content: String(error) }));
    expect(answer.isError).toBe(true);
  });

  it('refuses code and variables that are too large', async () => {
    const answer = await mcp.call('run_code', { code: 'x'.repeat(2 ** 20 + 1) });
    expect(answer.isError).toBe(true);
    const env = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`A${index}`, 'x'.repeat(100_000)]));
    expect((await mcp.call('run_code', { code: '', env })).isError).toBe(true);
    expect(
      (await mcp.run('console.log(process.env.A?.length)', { env: { A: 'x'.repeat(200_000) } })).exit_code,
    ).not.toBe(0);
    expect((await mcp.run('console.log(process.env.A?.length)', { env: { A: 'x'.repeat(100_000) } })).stdout).toBe(
      '100000\n',
    );
  });

  it('code of the greatest size, with the longest lines, runs', async () => {
    const code = `const x = "${'x'.repeat(2 ** 20 - 100)}"; console.log(x.length);`;
    expect((await mcp.run(code)).stdout).toBe(`${2 ** 20 - 100}\n`);
  });

  it('a client that closes in the middle of a call leaves no container', async () => {
    const other = await mcpForTest();
    void other.run('await Bun.sleep(60_000)').catch(() => undefined);
    await waitUntil('it runs', async () => engine('ps', '-q', '--filter', labelOf(other)) !== '');
    await other.leave();
    await waitUntil('it is gone', async () => engine('ps', '-aq', '--filter', labelOf(other)) === '');
  });
});
