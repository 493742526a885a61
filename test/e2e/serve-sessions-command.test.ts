import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));
const TOKENS = ['anna anna-0123456789abcdef', 'ben ben-0123456789abcdef'];

interface Said {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

function sessions(home: string, args: readonly string[], env: Record<string, string> = {}): Promise<Said> {
  return new Promise((resolve) => {
    const own = { ...process.env, XDG_STATE_HOME: home, ...env };
    execFile(process.execPath, [PROGRAM, 'sessions', ...args], { env: own }, (error, out, err) =>
      resolve({ exit: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

describe('mahabharatha sessions without a server', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'mahabharatha-no-server-'));
  afterAll(() => rmSync(home, { recursive: true }));

  it.each([
    [[], 4, 'No server of yours runs'],
    [['--url', 'http://127.0.0.1:1'], 4, 'does not answer: '],
    [['--url', 'file:///etc/passwd'], 2, 'is no address of a server'],
    [['list'], 2, 'There is no "sessions list"'],
    [['--all'], 2, '--all is for "sessions end"'],
    [['end'], 2, 'Name the sessions'],
    [['end', 'session_1234abcd', '--all'], 2, 'Name the sessions'],
  ])('%j exits with %i and says why', async (args, exit, text) => {
    const said = await sessions(home, args);
    expect([said.exit, said.err]).toEqual([exit, expect.stringContaining(text)]);
  });
});

describe.skipIf(docker.why !== '')(`mahabharatha sessions${whySkipped}`, () => {
  let served: Served;
  const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-tokens-'));
  const file = path.join(folder, 'tokens');
  beforeAll(async () => {
    await buildSandboxImage();
    writeFileSync(file, `${TOKENS.join('\n')}\n`, { mode: 0o600 });
    served = await serveForTest({ args: ['--token-file', file] });
  });
  afterAll(async () => {
    expect(await served.end()).toBe(0);
    rmSync(folder, { recursive: true });
  });

  const open = async (token: string, project: string): Promise<string> => {
    const headers = { authorization: `Bearer ${token}` };
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: project, runtime_type: 'shell' }, headers);
    return String(body['session_id']);
  };

  it('finds the server by itself, lists and ends the sessions of the user, and says what is missing', async () => {
    const [one, two, bens] = [
      await open('anna-0123456789abcdef', 'one'),
      await open('anna-0123456789abcdef', 'two'),
      await open('ben-0123456789abcdef', 'other'),
    ];
    const withoutToken = await sessions(served.home, []);
    expect(withoutToken).toMatchObject({ exit: 4, err: expect.stringContaining('--token-file') });
    const { out } = await sessions(served.home, ['--token-file', file]);
    expect(out).toMatch(/^session +project +runtime +state +last used +server\n/);
    expect(out).toContain(`${one}  one      shell    idle   20`);
    expect(out).toContain(served.address);
    expect(out).not.toContain(bens);
    const asBen = { MAHABHARATHA_TOKEN: 'ben-0123456789abcdef' };
    const json = await sessions(served.home, ['--json', '--url', served.address], asBen);
    expect(JSON.parse(json.out)).toEqual({
      type: 'sessions',
      sessions: [expect.objectContaining({ session_id: bens, project_id: 'other', server: served.address })],
    });
    expect(await sessions(served.home, ['end', one], asBen)).toMatchObject({
      exit: 2,
      err: expect.stringContaining(one),
    });
    expect(await sessions(served.home, ['end', one, '--token-file', file])).toMatchObject({
      exit: 0,
      out: `${one} has ended.\n`,
    });
    const all = await sessions(served.home, ['end', '--all', '--json', '--token-file', file]);
    expect(JSON.parse(all.out)).toEqual({ type: 'sessions-ended', ended: [two] });
    expect((await sessions(served.home, ['--token-file', file])).out).toBe('No session is open.\n');
    expect(JSON.parse((await sessions(served.home, ['--json'], asBen)).out)).toMatchObject({
      sessions: [{ session_id: bens }],
    });
  });
});
