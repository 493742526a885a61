import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claudeEnvironment, findClaude, HOW_TO_GET_CLAUDE } from '../support/claude-cli.ts';
import { containersOf, MCP_PROGRAM, mcpOverHttp } from '../support/mcp.ts';
import type { McpServer } from '../support/mcp.ts';
import { startModelServer } from '../support/model-server.ts';
import type { Reply } from '../support/model-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildBunImage, buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const PROGRAMS = fileURLToPath(new URL('../../node_modules/.bin/', import.meta.url));
const run = promisify(execFile);
const newHome = (): string => mkdtempSync(path.join(tmpdir(), 'mahabharatha-mcp-others-'));

/** Server scenarios of the conformance tests, and why they do not apply here. */
const NEEDS_A_TOOL = 'calls a tool that only the server of the conformance tests has';
const NEEDS_MORE = 'is about an offer that a server may do without, and that this one does not claim to have';
const SCENARIOS: Readonly<Record<string, null | string>> = {
  'server-initialize': null,
  ping: null,
  'tools-list': null,
  'server-sse-multiple-streams': null,
  'dns-rebinding-protection': null,
  'tools-call-simple-text': NEEDS_A_TOOL,
  'tools-call-image': NEEDS_A_TOOL,
  'tools-call-audio': NEEDS_A_TOOL,
  'tools-call-embedded-resource': NEEDS_A_TOOL,
  'tools-call-mixed-content': NEEDS_A_TOOL,
  'tools-call-with-logging': NEEDS_A_TOOL,
  'tools-call-error': NEEDS_A_TOOL,
  'tools-call-with-progress': NEEDS_A_TOOL,
  'tools-call-sampling': NEEDS_A_TOOL,
  'tools-call-elicitation': NEEDS_A_TOOL,
  'json-schema-2020-12': NEEDS_A_TOOL,
  'elicitation-sep1034-defaults': NEEDS_A_TOOL,
  'elicitation-sep1330-enums': NEEDS_A_TOOL,
  'server-sse-polling': NEEDS_A_TOOL,
  'logging-set-level': NEEDS_MORE,
  'completion-complete': NEEDS_MORE,
  'resources-list': NEEDS_MORE,
  'resources-read-text': NEEDS_MORE,
  'resources-read-binary': NEEDS_MORE,
  'resources-templates-read': NEEDS_MORE,
  'resources-subscribe': NEEDS_MORE,
  'resources-unsubscribe': NEEDS_MORE,
  'prompts-list': NEEDS_MORE,
  'prompts-get-simple': NEEDS_MORE,
  'prompts-get-with-args': NEEDS_MORE,
  'prompts-get-embedded-resource': NEEDS_MORE,
  'prompts-get-with-image': NEEDS_MORE,
};

const applying = Object.entries(SCENARIOS).flatMap(([name, reason]) => (reason === null ? [name] : []));

describe.skipIf(docker.why !== '')(`mcp and the programs of others${whySkipped}`, () => {
  let server: McpServer;
  let home: string;
  beforeAll(async () => {
    await buildSandboxImage();
    await buildBunImage();
    home = newHome();
    server = await mcpOverHttp();
  });
  afterAll(async () => {
    expect(await server.end()).toBe(0);
    rmSync(home, { recursive: true, force: true });
  });

  const conformance = (...args: string[]) => run(path.join(PROGRAMS, 'conformance'), args, { cwd: home });

  it.each(applying)('the conformance scenario %s passes', async (name) => {
    const { stdout } = await conformance('server', '--url', server.address, '--scenario', name);
    expect(stdout).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
  });

  it('every other scenario of the conformance tests is known, with why it does not apply', async () => {
    const { stdout } = await conformance('list');
    const [list = ''] = stdout.split('Client scenarios');
    const names = [...list.matchAll(/^ +- (\S+)$/gm)].map(([, name = '']) => name);
    expect(names.toSorted()).toEqual(Object.keys(SCENARIOS).toSorted());
    const { client } = await server.connect();
    expect(Object.keys(client.getServerCapabilities() ?? {})).toEqual(['tools']);
    const { tools } = await client.listTools();
    expect(tools.filter(({ name }) => name.startsWith('test_') || name.startsWith('json_schema'))).toEqual([]);
    await client.close();
  });

  it.each([['claude'], ['cursor']])('what --print-config prints for %s starts the server', async (name) => {
    const { stdout } = await run(process.execPath, [MCP_PROGRAM, 'mcp', '--print-config', name]);
    const { mcpServers } = JSON.parse(stdout) as { mcpServers: { mahabharatha: StdioServerParameters } };
    const { command, args = [], env = {} } = mcpServers.mahabharatha;
    expect(env).toEqual({ EXECUTION_MODE: 'container' });
    const own = { PATH: process.env['PATH'] ?? '', XDG_STATE_HOME: home };
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command, args, env: { ...env, ...own }, stderr: 'ignore' }));
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
  });

  it.each([
    [['--print-config', 'emacs'], 'There is no client "emacs"'],
    [['--print-config', 'claude', '--http'], '--print-config'],
    [['--port', '8001'], '--port is for --http'],
    [['--http', '--port', '99999'], '"99999" is not a port'],
    [['--http', '--host', '0.0.0.0'], 'other machines reach the server'],
    [['--config', 'no-such-file'], 'There is no file'],
  ])('words that make no sense are refused: %j', async (words, problem) => {
    const env = { ...process.env, EXECUTION_MODE: 'container' };
    const ran = run(process.execPath, [MCP_PROGRAM, 'mcp', ...words], { cwd: home, env });
    await expect(ran).rejects.toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(problem) });
  });

  it('the inspector lists the tools and calls them, on stdin and stdout and over HTTP', async () => {
    const started = [process.execPath, MCP_PROGRAM, 'mcp'];
    const env = { ...process.env, EXECUTION_MODE: 'container', XDG_STATE_HOME: home };
    const inspect = async (target: readonly string[], ...args: string[]): Promise<unknown> => {
      const { stdout } = await run(path.join(PROGRAMS, 'mcp-inspector-cli'), ['--cli', ...target, ...args], { env });
      return JSON.parse(stdout);
    };
    const call = ['--method', 'tools/call', '--tool-name', 'run_code', '--tool-arg', 'code=console.log(6 * 7)'];
    for (const target of [started, [server.address, '--transport', 'http']]) {
      const { tools } = (await inspect(target, '--method', 'tools/list')) as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toContain('run_code');
      expect(await inspect(target, ...call)).toMatchObject({ structuredContent: { stdout: '42\n', exit_code: 0 } });
    }
    // It may have killed the server before that had ended its containers.
    await waitUntil('its containers are gone', () => containersOf({ home }).length === 0);
  });
});

const code = (text: string): Reply => ({ toolUse: { name: 'mcp__mahabharatha__run_code', input: { code: text } } });
const claude = findClaude() ?? '';
const noClaude = claude === '' && process.env['CI'] !== 'true';
const whyNoClaude = claude === '' ? ` (${HOW_TO_GET_CLAUDE})` : '';

/** A session of Claude Code with the server that was added as these words say. */
async function sessionWith(home: string, ...server: string[]): Promise<{ answer: string; results: string }> {
  const model = await startModelServer([
    code('await Bun.write("/packages/kept", String(6 * 7)); throw new Error("no luck")'),
    code('console.log("it was", await Bun.file("/packages/kept").text())'),
    { text: 'It was 42.' },
  ]);
  const own = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', XDG_STATE_HOME: home };
  const options = { env: { ...claudeEnvironment(home, model.url), ...own }, cwd: home };
  await run(claude, ['mcp', 'add', ...server], options);
  const tools = ['--allowedTools', 'mcp__mahabharatha__run_code'];
  const asked = run(claude, ['--print', 'How much is six times seven?', ...tools], options);
  asked.child.stdin?.end();
  const { stdout } = await asked;
  await model.close();
  return { answer: stdout, results: JSON.stringify(model.requests.map(({ messages }) => messages.at(-1))) };
}

describe.skipIf(docker.why !== '' || noClaude)(`mcp in Claude Code${whySkipped}${whyNoClaude}`, () => {
  beforeAll(async () => {
    await buildSandboxImage();
    await buildBunImage();
  });

  it('Claude Code adds the server and calls run_code in a session, which is gone with it', async () => {
    const home = newHome();
    const started = ['-e', 'EXECUTION_MODE=container', '--', process.execPath, MCP_PROGRAM, 'mcp'];
    const { answer, results } = await sessionWith(home, 'mahabharatha', ...started);
    expect(answer).toContain('It was 42.');
    expect(results).toContain('error: no luck');
    expect(results).toContain('it was 42');
    await waitUntil('its container is gone', () => containersOf({ home }).length === 0);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  it('Claude Code does the same over HTTP, with a token', async () => {
    const home = newHome();
    const tokens = path.join(home, 'tokens');
    writeFileSync(tokens, 'anna anna-0123456789abcdef\n', { mode: 0o600 });
    const server = await mcpOverHttp({}, ['--token-file', tokens]);
    const header = ['--header', 'Authorization: Bearer anna-0123456789abcdef'];
    const place = ['--transport', 'http', 'mahabharatha', server.address, ...header];
    const { answer, results } = await sessionWith(home, ...place);
    expect(answer).toContain('It was 42.');
    expect(results).toContain('it was 42');
    await waitUntil('its container is gone', () => containersOf(server).length === 0);
    expect(await server.end()).toBe(0);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
});
