import { expect, it } from 'vitest';
import { waitUntil } from '../../test/support/wait-until.ts';
import type { FileAnswer, FileCall, SandboxEnd } from '../protocol/index.ts';
import { exec, prepare } from './execute.ts';
import type { Runtime } from './runtimes.ts';
import type { Sandbox } from './sandbox.ts';
import type { SessionCache } from './session-caches.ts';
import { withFiles } from './session-sandbox.ts';
import { newSession } from './session.ts';
import type { SessionParts } from './session.ts';

const END = { code: 0, endedBy: 'itself', problem: null, cwd: null } as SandboxEnd;
const WISH = { command: 'true', timeoutMs: 1000, resetCwd: false, env: {}, envFile: undefined };
const TOO_LARGE = { code: 'CACHE_TOO_LARGE', message: expect.stringContaining('holds more than 1 KB') };

/** A session whose commands end as soon as a look has begun; each look ends when the test says so. */
function sessionWithCache() {
  const looks: ((problem: string | null) => void)[] = [];
  let commands = 0;
  const files = (call: FileCall): Promise<FileAnswer> =>
    call.op === 'write-whole'
      ? Promise.resolve({ errors: call.files.map(() => null) })
      : new Promise((resolve) => looks.push((problem) => resolve({ walk: null, problem })));
  const run = (): ReturnType<Sandbox['run']> => {
    commands += 1;
    const end = waitUntil('a look has begun', () => looks.length > 0).then(() => END);
    return { kill: () => undefined, hasBegun: () => true, end };
  };
  const sandbox = { uid: 1, env: {}, isOver: () => false, files, run } as unknown as Sandbox;
  const session = newSession('p', 'node', { kind: {} as Runtime, network: null }, async () => sandbox);
  session.cache = { id: 'c', uid: 1, volumes: [] } as unknown as SessionCache;
  const parts = { settings: { cacheBytes: 1024 }, open: new Map([[session.id, session]]) } as unknown as SessionParts;
  return {
    looks,
    commands: () => commands,
    exec: async () => exec(parts, session, await prepare(parts, session, WISH), () => undefined),
    upload: () => {
      const file = { path: 'node_modules/x', content: Buffer.from('x'), sha256: undefined, executable: false };
      return withFiles(parts, session, (workspace) => workspace.upload({ files: [file], removed: [] }));
    },
  };
}

it('what a look finds counts also when its command has ended before: commands shorter than a look do not escape', async () => {
  const session = sessionWithCache();
  for (let count = 0; count < 3; count += 1) await session.exec();
  expect(session.looks).toHaveLength(1);
  session.looks[0]?.('holds more than 1 KB');
  await expect(session.exec()).rejects.toMatchObject(TOO_LARGE);
  await expect(session.upload()).rejects.toMatchObject(TOO_LARGE);
  expect(session.commands()).toBe(3);
});

it('an upload is followed by a look, without a command', async () => {
  const session = sessionWithCache();
  expect(await session.upload()).toMatchObject({ written: ['node_modules/x'] });
  await waitUntil('a look has begun', () => session.looks.length > 0);
  await session.upload();
  session.looks[0]?.('holds more than 1 KB');
  await expect(session.upload()).rejects.toMatchObject(TOO_LARGE);
  await expect(session.exec()).rejects.toMatchObject(TOO_LARGE);
  expect(session.commands()).toBe(0);
});
