import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processStart } from '../../src/lib/index.ts';
import { childrenOf } from '../support/children-of.ts';
import { MCP_PROGRAM, mcpForTest, mcpOverHttp } from '../support/mcp.ts';
import type { McpClient } from '../support/mcp.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const CHILD = 'bundle/preload';
const LINUX = process.platform === 'linux';

describe.each([
  ['not set', ''],
  ['preload', 'preload'],
])('run_code with EXECUTION_MODE %s', (_, mode) => {
  let mcp: McpClient;
  beforeAll(async () => {
    mcp = await mcpForTest({ EXECUTION_MODE: mode, DOCKER_HOST: 'tcp://127.0.0.1:1', SERVER_SECRET: 'a token' });
  });
  afterAll(() => mcp.leave());

  it('Container mode disabled (default): code executes using the preload sandbox', async () => {
    const code = `import { join } from 'node:path'; enum Kind { one = 'x' }
const word: string = join(Kind.one, 'y'); console.log(word, process.versions.node.length > 0, Object.keys(process.env).length);
try { await import('node:fs'); } catch (error) { console.log((error as Error).message) }
try { await fetch('http://127.0.0.1:1'); } catch (error) { console.log((error as Error).message) }`;
    expect(await mcp.run(code)).toMatchObject({
      stdout:
        'x/y true 0\n"node:fs" is closed in preload mode; set EXECUTION_MODE=container.\nfetch is closed in preload mode; set EXECUTION_MODE=container.\n',
      stderr: '',
      exit_code: 0,
      timed_out: false,
      truncated: false,
      error: null,
    });
  });

  it('the tools say which mode it is', async () => {
    const { tools } = await mcp.client.listTools();
    const { description } = tools.find(({ name }) => name === 'run_code') ?? {};
    expect(description).toContain('preload mode');
    expect(description).toContain('no packages of npm');
  });

  it('a package of npm is refused by its name, and the code is not run', async () => {
    const ran = await mcp.run('console.log("begun"); import { chunk } from "lodash/fp"; chunk();');
    expect(ran).toMatchObject({ stdout: '', exit_code: 1 });
    expect(ran.stderr).toContain('Preload mode has no packages of npm: "lodash".');
    expect(ran.stderr).toContain('EXECUTION_MODE=container');
  });

  it('code that fails is a result, with what was printed before and the place of the error', async () => {
    const ran = await mcp.run('console.log("before");\nthrow new Error("no luck")');
    expect(ran).toMatchObject({ stdout: 'before\n', exit_code: 1, error: null });
    expect(ran.stderr).toMatch(/Error: no luck\n +at file:\/\/\/code\/main.ts:2:7/);
    const whole = await mcp.call('run_code', { code: 'process.exit(3)' });
    expect(whole).toMatchObject({ isError: true, structuredContent: { exit_code: 3 } });
    expect(await mcp.run('process.abort()')).toMatchObject({ exit_code: 134 });
  });

  it('Timeout enforced: the process is ended and the result indicates a timeout', async () => {
    // On a busy machine a process needs longer than a second until its code begins.
    const ran = await mcp.run('console.log("begun"); for (;;);', { timeout_ms: 5000 });
    expect(ran).toMatchObject({ stdout: 'begun\n', exit_code: 124, timed_out: true });
    expect(ran.error).toBe('The program was ended after 5000 ms.');
  });

  it('what code prints is no message of the protocol, however much it looks like one', async () => {
    const fake = '{"jsonrpc":"2.0","id":1,"result":{}}';
    expect((await mcp.run(`console.log(${JSON.stringify(fake)})`)).stdout).toBe(`${fake}\n`);
    const flood = await mcp.run('for (let i = 0; i < 30000; i++) console.log("x".repeat(100))');
    expect(flood).toMatchObject({ truncated: true });
    expect(flood.stdout.length).toBe(1024 ** 2);
  });

  it('a session keeps nothing, and has nothing to reset', async () => {
    await mcp.run('globalThis.kept = 1', { session_id: 'one' });
    expect((await mcp.run('console.log(globalThis.kept)', { session_id: 'one' })).stdout).toBe('undefined\n');
    expect((await mcp.call('reset_session', { session_id: 'one' })).structuredContent).toEqual({ reset: false });
  });

  it('parallel calls never mix, and variables are of one call alone', async () => {
    const calls = Array.from({ length: 8 }, async (_each, index) => {
      const { stdout } = await mcp.run('console.log(process.env.A)', { env: { A: String(index) } });
      return stdout;
    });
    expect(await Promise.all(calls)).toEqual(calls.map((_each, index) => `${index}\n`));
  });

  it.runIf(LINUX)('a call that is called off ends its process', async () => {
    const controller = new AbortController();
    const call = mcp.run('for (;;);', {}, controller.signal);
    call.catch(() => undefined);
    await waitUntil('it runs', () => childrenOf(mcp.pid, CHILD).length === 1);
    controller.abort();
    await expect(call).rejects.toThrow();
    await waitUntil('it has ended', () => childrenOf(mcp.pid, CHILD).length === 0);
  });
});

/** What the program says on stderr, to a client that leaves at once. */
function start(mode: string | undefined, ...args: string[]): string {
  const env = { ...process.env, XDG_STATE_HOME: tempFolder(), EXECUTION_MODE: mode };
  return spawnSync(process.execPath, [MCP_PROGRAM, 'mcp', ...args], { env, input: '', encoding: 'utf8' }).stderr;
}

describe('preload mode', () => {
  it('is told on stderr at the start; a mode that there is not is refused', () => {
    expect(start(undefined)).toContain('preload mode, a weak sandbox');
    expect(start('vm')).toContain('There is no execution mode "vm".');
  });

  it('serves programs of this machine over HTTP, and no others', async () => {
    const refused = start('', '--http', '--host', '0.0.0.0', '--insecure-no-token');
    expect(refused).toContain('Preload mode is too weak for the code of other machines.');
    const server = await mcpOverHttp({ EXECUTION_MODE: '', MAHABHARATHA_MCP_SESSIONS: '1' });
    const { run, client } = await server.connect();
    const calls = ['a', 'b', 'c'].map((name) => run(`console.log('${name}')`, { session_id: name }));
    expect((await Promise.all(calls)).map(({ stdout }) => stdout)).toEqual(['a\n', 'b\n', 'c\n']);
    await client.close();
    expect(await server.end()).toBe(0);
  });

  it.runIf(LINUX).each([
    ['client leaves', (mcp: McpClient) => mcp.leave()],
    ['server is killed', async ({ pid }: McpClient) => void process.kill(pid, 'SIGKILL')],
  ])('no process is left when the %s', async (_, end) => {
    const mcp = await mcpForTest({ EXECUTION_MODE: '' });
    mcp.run('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)').catch(() => undefined);
    await waitUntil('it runs', () => childrenOf(mcp.pid, CHILD).length === 1);
    const [child = 0] = childrenOf(mcp.pid, CHILD);
    await end(mcp);
    await waitUntil('it has ended', async () => (await processStart(child)) === undefined);
    await mcp.leave();
  });
});
