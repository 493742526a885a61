import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPreload } from '../../src/preload/index.ts';
import { programFile } from '../../src/project/index.ts';
import { ESCAPES, attempt } from '../support/escapes.ts';
import { tempFolder } from '../support/temp-folder.ts';

const SECRET = 'the words of a secret file';

let preload: Awaited<ReturnType<typeof openPreload>>;
let env: Record<string, string>;
let home: string;
let below: string;
let connections = 0;
let server: Server;
let victim: ChildProcess;

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-'));
  below = mkdtempSync(path.join(home, 'below-'));
  const secret = path.join(home, 'secret');
  writeFileSync(secret, SECRET);
  writeFileSync(`${secret}.mjs`, `export default ${JSON.stringify(SECRET)}`);
  writeFileSync(`${secret}.json`, JSON.stringify(SECRET));
  server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).resume();
    socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  victim = spawn('sleep', ['86400']);
  const { port } = server.address() as AddressInfo;
  env = { SECRET: secret, PORT: String(port), VICTIM: String(victim.pid), BELOW: below };
  const limits = { memoryBytes: 512 * 1024 ** 2, outputBytes: 1024 ** 2 };
  preload = await openPreload({ program: programFile('preload'), ...limits, env: process.env });
});
afterAll(async () => {
  await preload.closeAll();
  victim.kill('SIGKILL');
  server.close().unref();
  rmSync(home, { recursive: true });
});

const never = { signal: new AbortController().signal };
const run = (code: string): ReturnType<typeof preload.run> =>
  preload.run('', { code, language: 'javascript', timeoutMs: 60_000, env }, never);

/** The same without a sandbox, with the variables of a server. */
function runPlainly(code: string): Promise<string> {
  const args = ['--no-warnings', '--input-type=module', '--eval', code];
  const own = { ...env, PATH: process.env['PATH'], OF_SERVER: 'a token', BELOW: tempFolder() };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: tempFolder(), env: own, timeout: 60_000 }, (_, stdout) => resolve(stdout));
  });
}

describe('a way out of the sandbox is closed', () => {
  it.each(ESCAPES)('$name', async (escape) => {
    const before = connections;
    const { stdout, stderr } = await run(attempt(escape));
    expect(stdout.text, stderr.text).toMatch(/^closed: .*\n$/m);
    expect(`${stdout.text}${stderr.text}`).not.toMatch(/^OPEN|secret file|root:/m);
    expect(connections).toBe(before);
    expect(readdirSync(below)).toEqual([]);
    expect(victim.exitCode ?? victim.signalCode).toBeNull();
  });

  it.each(ESCAPES.filter(({ worksInPlainNode }) => worksInPlainNode))(
    'and is one: without the sandbox it works: $name',
    async (escape) => {
      expect(await runPlainly(attempt(escape))).toMatch(/^OPEN/m);
    },
  );
});
