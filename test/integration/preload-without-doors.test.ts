import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../src/lib/index.ts';
import { childCommand, findBound } from '../../src/preload/child-command.ts';
import { ESCAPES, attempt } from '../support/escapes.ts';

/**
 * What the doors alone close: signals, facts about the machine and the process, and names that lead no further. docs/mcp.md
 * says so.
 */
const BY_DOORS_ALONE: readonly string[] = [
  'import.meta.resolve',
  'process.kill',
  'process._kill',
  'process.kill by import',
  'process.umask',
  'process.setuid',
  'process.report',
  'process.ppid',
  'process.execPath',
  'process.argv',
  'process._getActiveHandles',
  'process.openStdin',
  'process.allowedNodeEnvironmentFlags',
  'cluster',
  'vm',
  'v8',
  'heap snapshot',
  'os',
  'async_hooks',
  'diagnostics_channel',
  'tls',
  'http2',
  'fetch of a data: URL',
  'dispatcher of undici',
  'handle of stdout',
  'class of stdout',
  'class of the stream of console',
  'class of stdin',
  'fd of stdout',
  'crypto.setFips',
];

/** A process as for a call, with all of Node, and no descriptors left. */
const HEAD = `import { openSync, readFileSync } from 'node:fs';
readFileSync(0);
for (let count = 0; count < 256; count++) try { openSync(process.cwd(), 'r') } catch { break }
`;

const victim = spawn('sleep', ['86400']);
let home: string;
let env: Record<string, string>;
let bound: readonly string[];
let server: Server;
let connections = 0;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-')));
  const secret = path.join(home, 'secret');
  writeFileSync(secret, 'the words of a secret file');
  writeFileSync(`${secret}.mjs`, 'export default "the words of a secret file"');
  writeFileSync(`${secret}.json`, '"the words of a secret file"');
  mkdirSync(path.join(home, 'below'));
  server = createServer(() => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  env = { SECRET: secret, PORT: String(port), VICTIM: String(victim.pid), BELOW: path.join(home, 'below') };
  bound = await findBound(process.env);
});
afterAll(() => {
  victim.kill('SIGKILL');
  server.close().unref();
  rmSync(home, { recursive: true });
});

it.each(ESCAPES.filter(({ name, worksInPlainNode }) => worksInPlainNode && !BY_DOORS_ALONE.includes(name)))(
  'a program that has got around the doors is kept by the limits of its process from: $name',
  async (escape) => {
    const [folder, programs] = [mkdtempSync(path.join(home, 'work-')), mkdtempSync(path.join(home, 'program-'))];
    const program = path.join(programs, 'program.mjs');
    writeFileSync(program, HEAD + attempt(escape));
    const facts = { node: process.execPath, program, memoryBytes: 512 * 1024 ** 2, ownBytes: 1024 ** 3, bound };
    const { file, args } = childCommand(facts, { folder, timeoutMs: 60_000 });
    const { stdout } = await run(file, args, { cwd: folder, env, timeoutMs: 60_000 });
    expect(stdout).not.toMatch(/^OPEN|secret file|root:/m);
    expect(connections).toBe(0);
    expect(readdirSync(env['BELOW'] ?? '')).toEqual([]);
  },
);

it('what the doors alone close is what the escapes have by those names', () => {
  expect(BY_DOORS_ALONE.filter((name) => ESCAPES.every((escape) => escape.name !== name))).toEqual([]);
});
