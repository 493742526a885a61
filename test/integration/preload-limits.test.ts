import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { run } from '../../src/lib/index.ts';
import { findBound } from '../../src/preload/child-command.ts';
import { openPreload } from '../../src/preload/index.ts';
import { programFile } from '../../src/project/index.ts';
import { childrenOf } from '../support/children-of.ts';
import { inTime } from '../support/in-time.ts';
import { waitUntil } from '../support/wait-until.ts';

type Preload = Awaited<ReturnType<typeof openPreload>>;

const LINUX = process.platform === 'linux';
const PROGRAM = programFile('preload');
const SETTINGS = {
  program: PROGRAM,
  memoryBytes: 256 * 1024 ** 2,
  outputBytes: 64 * 1024,
  env: process.env,
};

let preload: Preload;
beforeAll(async () => {
  preload = await openPreload(SETTINGS);
});
afterAll(() => preload.closeAll());

interface Wish {
  readonly language?: 'typescript' | 'javascript';
  readonly timeoutMs?: number;
  readonly env?: Record<string, string>;
}

const ran = (code: string, wish: Wish = {}, signal = new AbortController().signal): ReturnType<Preload['run']> =>
  preload.run('', { code, language: 'javascript', timeoutMs: 60_000, env: {}, ...wish }, { signal });
async function output(code: string, wish?: Wish): Promise<string> {
  const { stdout, stderr } = await ran(code, wish);
  return `${stdout.text}${stderr.text}`;
}

describe('code in preload mode', () => {
  it('prints, fails and exits as elsewhere', async () => {
    expect(await ran('console.log("out"); console.error("err", { a: [1] })')).toMatchObject({
      code: 0,
      endedBy: 'itself',
      stdout: { text: 'out\n', isCut: false },
      stderr: { text: 'err { a: [ 1 ] }\n' },
    });
    const failed = await ran('process.stdout.write("before");\nthrow new TypeError("no luck")');
    expect(failed).toMatchObject({ code: 1, stdout: { text: 'before' } });
    expect(failed.stderr.text).toContain('TypeError: no luck\n    at file:///code/main.js:2:7');
    expect(await ran('process.on("exit", (code) => console.log("bye", code)); process.exit(3)')).toMatchObject({
      code: 3,
      stdout: { text: 'bye 3\n' },
    });
    expect(await ran('Promise.reject(new Error("not handled"))')).toMatchObject({ code: 1 });
    expect(await output('await new Promise((resolve) => setTimeout(resolve, 5)); console.log("waited")')).toBe(
      'waited\n',
    );
    expect(await output('for await (const line of process.stdin) console.log(line); console.log("end")')).toBe('end\n');
    expect((await ran('let a = ;')).stderr.text).toContain('SyntaxError');
  });

  it('is TypeScript with all that needs more than leaving types out', async () => {
    const code = `import type { ParsedPath } from 'node:path';
enum Colour { red = 'r', blue = 'b' }
namespace Deep { export const value = 5 }
class Point { constructor(readonly x: number, private y = 2) {} sum(): number { return this.x + this.y } }
const generic = <T,>(value: T): T => value;
const parsed: ParsedPath | undefined = undefined;
console.log(Colour.blue, Deep.value, new Point(1).sum(), generic<string>('x') satisfies string, parsed!);`;
    expect(await output(code, { language: 'typescript' })).toBe('b 5 3 x undefined\n');
    const wrong = await ran('const a: number = ;', { language: 'typescript' });
    expect(wrong).toMatchObject({ code: 1, stdout: { text: '' } });
    expect(wrong.stderr.text).toContain('file:///code/main.ts:1');
    const thrown = await ran('interface A { b: 1 }\n\nthrow new Error("here" as string)', { language: 'typescript' });
    expect(thrown.stderr.text).toContain('file:///code/main.ts:3:7');
  });

  it('imports the modules that only compute, in all ways', async () => {
    const code = `import path, { join } from 'node:path'; import { format } from 'util'; import assert from 'assert/strict';
import { EventEmitter, once } from 'events'; import { gzipSync, gunzipSync } from 'zlib'; import { createHash } from 'crypto';
import { pipeline } from 'stream/promises'; import { Readable, Transform } from 'stream'; import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises'; import { StringDecoder } from 'string_decoder';
import { performance } from 'perf_hooks'; import qs from 'querystring'; import { URL as Url } from 'url'; import { Buffer as B } from 'buffer';
const emitter = new EventEmitter(); setImmediate(() => emitter.emit('x', 1)); const [one] = await once(emitter, 'x');
const zipped = gunzipSync(gzipSync('zip')).toString(); const parts = [];
await pipeline(Readable.from(['a', 'b']), new Transform({ transform(c, _, d) { d(null, String(c).toUpperCase()) } }), async (s) => { for await (const c of s) parts.push(String(c)) });
await sleep(1); assert.equal(1, 1); const { sep } = await import('path'); const { types } = require('node:util');
console.log(join('a', 'b') === path.join('a', 'b'), format('%s', one), zipped, createHash('sha1').update('').digest('hex').slice(0, 4), parts.join(), sep,
  types.isDate(new Date()), process.argv.length, new StringDecoder().write(B.from('€')), performance.now() > 0, qs.stringify({ a: 1 }), new Url('http://x/y').pathname,
  crypto.randomUUID().length, process.memoryUsage().rss > 0, structuredClone({ a: 1 }).a, import.meta.url, process.cwd().length > 1)`;
    expect(await output(code)).toBe('true 1 zip da39 AB / true 2 € true a=1 /y 36 true 1 file:///code/main.js true\n');
  });

  it('is told why it gets no other module, and what to do', async () => {
    const refused = await ran("console.log('not run');\nimport { chunk } from '@scope/lodash/deep'");
    expect(refused).toMatchObject({ code: 1, stdout: { text: '' } });
    expect(refused.stderr.text).toContain('"@scope/lodash"');
    expect(refused.stderr.text).toContain('EXECUTION_MODE=container');
    for (const [name, words] of [
      ['node:fs', '"node:fs" is closed'],
      ['bun:ffi', '"bun:ffi" is closed'],
      ['lodash', 'no packages of npm: "lodash"'],
      ['./own.ts', 'no files and no URLs'],
      ['https://x/y', 'no files and no URLs'],
    ])
      expect(await output(`await import('${name}').catch((e) => console.log(e.message))`)).toContain(words);
    expect(await output('await fetch("http://x")')).toContain(
      'fetch is closed in preload mode; set EXECUTION_MODE=container',
    );
  });

  it('has the variables of its call, and no others', async () => {
    const code = 'console.log(JSON.stringify(process.env))';
    expect(await output(code, { env: { A: 'x', NODE_OPTIONS: '--no-such', PATH: '/x' } })).toBe(
      '{"A":"x","NODE_OPTIONS":"--no-such","PATH":"/x"}\n',
    );
    expect(await output(code)).toBe('{}\n');
  });
});

describe('the surroundings of a call', () => {
  let folder: string;
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  it('a folder that somebody else has filled does not replace the result', async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-')));
    vi.stubEnv('TMPDIR', folder);
    const running = ran('await new Promise((resolve) => setTimeout(resolve, 2000)); console.log("done")');
    await waitUntil('its folder is there', () => readdirSync(folder).length === 1);
    writeFileSync(path.join(folder, readdirSync(folder)[0] ?? '', 'file'), '');
    expect(await running).toMatchObject({ code: 0, stdout: { text: 'done\n' } });
  });

  it.runIf(LINUX)('the program that has been tried is the one that binds a call to this process', async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-')));
    const { stdout } = await run('/bin/sh', ['-c', 'command -v setpriv'], { cwd: '/', env: process.env });
    symlinkSync(stdout.trim(), path.join(folder, 'setpriv'));
    const [file] = await findBound({ PATH: `${folder}:${process.env['PATH'] ?? ''}` });
    expect(file).toBe(path.join(folder, 'setpriv'));
    expect(await findBound({ PATH: path.join(folder, 'nowhere') })).toEqual([]);
  });
});

describe('limits of preload mode', () => {
  it.each([
    ['a loop', 'console.log("begun"); for (;;);'],
    ['a wait for memory', 'console.log("begun"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'],
    ['promises without end', 'console.log("begun"); const again = () => queueMicrotask(again); again()'],
    ['timers without end', 'console.log("begun"); setInterval(() => {}, 1)'],
    ['a listener of its end', 'console.log("begun"); process.on("exit", () => { for (;;); }); process.exit()'],
    [
      'handlers of its errors',
      'console.log("begun"); process.on("uncaughtException", () => { setImmediate(() => { throw 1 }) }); throw 1',
    ],
  ])('the time ends %s', async (_, code) => {
    const end = await inTime(
      1500,
      (timeoutMs) => ran(code, { timeoutMs }),
      ({ stdout }) => stdout.text !== '',
    );
    expect(end).toMatchObject({ code: null, signal: 'SIGKILL', endedBy: 'timeout', stdout: { text: 'begun\n' } });
    expect(childrenOf(process.pid, PROGRAM)).toEqual([]);
  });

  it('a call that is called off ends its program; one that waits for its turn never begins', async () => {
    const controller = new AbortController();
    const call = ran('for (;;);', {}, controller.signal);
    setTimeout(() => controller.abort(), 300);
    expect(await call).toMatchObject({ endedBy: 'killed' });
    await expect(ran('', {}, controller.signal)).rejects.toThrow();
  });

  it('memory of the heap is limited, and the reason is told', async () => {
    const end = await ran('const all = []; for (;;) all.push({ a: all.length, b: [1, 2, 3] })');
    expect(end).toMatchObject({ code: null, endedBy: 'itself', outOfMemory: true });
  });

  it.runIf(LINUX)('memory outside of the heap is limited', async () => {
    const end = await ran('const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1))');
    expect(end).toMatchObject({ endedBy: 'itself' });
    expect(end.code).not.toBe(0);
    expect(end.stderr.text).toMatch(/allocation failed|out of memory|failed to allocate/i);
  });

  it('a recursion without end is an error of the code', async () => {
    expect(await output('const deep = () => deep(); try { deep() } catch (e) { console.log(e.name) }')).toBe(
      'RangeError\n',
    );
  });

  it('only the beginning of the output is kept, in bytes', async () => {
    const { code, stdout, stderr } = await ran(
      'for (let i = 0; i < 20000; i++) { console.log("€".repeat(20)); console.error("x".repeat(60)) }',
    );
    expect(code).toBe(0);
    for (const { text, isCut } of [stdout, stderr]) {
      expect(isCut).toBe(true);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
      expect(text.length).toBeGreaterThan(20_000);
    }
  });

  it('an abort ends it alone, and leaves no core file', async () => {
    expect(await ran('process.abort()')).toMatchObject({ code: null, signal: 'SIGABRT', endedBy: 'itself' });
  });

  it('calls beside each other never mix, and more than there is room for are refused', async () => {
    const calls = Array.from({ length: 12 }, (_, index) => output(`console.log(${index})`));
    expect(await Promise.all(calls)).toEqual(calls.map((_, index) => `${index}\n`));
    const many = await Promise.allSettled(Array.from({ length: 70 }, () => ran('')));
    const refused = many.flatMap((each) => (each.status === 'rejected' ? [each.reason as { code: string }] : []));
    expect(refused.map(({ code }) => code)).toEqual(['PRELOAD_BUSY', 'PRELOAD_BUSY']);
  });
});

const own = (name: string): string => readFileSync(`/proc/${childrenOf(process.pid, PROGRAM)[0] ?? 0}/${name}`, 'utf8');

it.runIf(LINUX)('the process of a call has nothing of this one, and no room for more', async () => {
  const controller = new AbortController();
  const call = ran('for (;;);', {}, controller.signal);
  const pid = await new Promise<number>((resolve) => {
    void waitUntil('all its descriptors are used up', () => {
      const [found] = childrenOf(process.pid, PROGRAM);
      if (found === undefined || readdirSync(`/proc/${found}/fd`).length < 64) return false;
      resolve(found);
      return true;
    });
  });
  expect(own('limits')).toMatch(/^Max open files +64 +64 /m);
  expect(own('limits')).toMatch(/^Max file size +0 +0 /m);
  expect(own('limits')).toMatch(/^Max core file size +0 +0 /m);
  expect(own('limits')).toMatch(/^Max data size +\d+ +\d+ +bytes/m);
  expect(own('status')).toMatch(/^NoNewPrivs:\s*1$/m);
  expect(own('oom_score_adj')).toBe('1000\n');
  expect(
    own('environ')
      .split('\0')
      .filter((each) => !/^(MAHABHARATHA_CHILD=\w+|PWD=.*|)$/.test(each)),
  ).toEqual([]);
  const folder = readlinkSync(`/proc/${pid}/cwd`);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual([]);
  controller.abort();
  await call;
  expect(existsSync(folder)).toBe(false);
});
