import { piston } from 'piston-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTime } from '../support/in-time.ts';
import { PYTHON_AND_RUBY, whyNoLanguages } from '../support/language-images.ts';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage } from '../support/worker-image.ts';

interface Ran {
  readonly language: string;
  readonly version: string;
  readonly run: Record<string, unknown> & { readonly stdout: string; readonly output: string };
}

const main = (content: string): object[] => [{ name: 'main', content }];

describe.skipIf(whyNoLanguages !== '')(`the interface of Piston${whyNoLanguages}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest({ config: PYTHON_AND_RUBY });
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const execute = async (request: object): Promise<Ran> => {
    const { status, body } = await served.ask('POST', '/api/v2/execute', { version: '*', ...request });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as unknown as Ran;
  };

  it('lists languages with the versions that their interpreters say', async () => {
    const { status, body } = await served.ask('GET', '/api/v2/runtimes');
    expect(status).toBe(200);
    const version = expect.stringMatching(/^\d+\.\d+\.\d+$/);
    expect(body).toEqual(
      expect.arrayContaining([
        { language: 'javascript', version: process.version.startsWith('v') ? version : '', aliases: ['js'] },
        { language: 'python', version: expect.stringMatching(/^3\.11\.\d+$/), aliases: ['py'] },
        { language: 'ruby', version: expect.stringMatching(/^3\.1\.\d+$/), aliases: ['rb'] },
        { language: 'shell', version: expect.stringMatching(/^5\.2\.\d+$/), aliases: ['sh'] },
      ]),
    );
  });

  it('runs programs beside those of /execute, and each gets its own output', async () => {
    // In new containers both interpreters have had the same number of programs.
    const own = await serveForTest({ config: PYTHON_AND_RUBY });
    const parent = 'import os; print(open(f"/proc/{os.getppid()}/cmdline").read())';
    const ask = async (piston: boolean, code: string): Promise<string> => {
      const { body } = piston
        ? await own.ask('POST', '/api/v2/execute', { language: 'python', version: '*', files: main(code) })
        : await own.ask('POST', '/execute/python', { code });
      return String(piston ? (body['run'] as Record<string, unknown>)['stdout'] : body['stdout']);
    };
    for (const piston of [false, true])
      await waitUntil('it is forked', async () => (await ask(piston, parent)).includes('fork-server'));
    const wanted = Array.from({ length: 24 }, (_, index) => `${index}\n`);
    const all = wanted.map((_, index) => ask(index % 2 === 0, `import time; time.sleep(0.05); print(${index})`));
    expect(await Promise.all(all)).toEqual(wanted);
    expect(await own.end()).toBe(0);
  });

  it.each([
    ['python', 'print(open("/dev/stdin").read())', {}],
    ['python', 'print(open("/dev/stdin").read())', { run_memory_limit: 100_000_000 }],
    ['ruby', 'puts File.read("/dev/stdin")', {}],
    ['javascript', 'console.log(require("fs").readFileSync("/dev/stdin", "utf8"))', {}],
    ['shell', 'cat /dev/stdin', {}],
  ])('a program in %s may open its input by name: %s %j', async (language, code, more) => {
    const stdin = 'words\n'.repeat(10_000);
    const { run } = await execute({ language, files: main(code), stdin, ...more });
    expect(run).toMatchObject({ stderr: '', code: 0 });
    expect(run.stdout.startsWith('words\nwords\n')).toBe(true);
  });

  it("serves npm's piston-client", async () => {
    const client = piston({ server: served.address });
    expect(await client.runtimes()).toContainEqual(expect.objectContaining({ language: 'python' }));
    expect(
      await client.execute('python', 'import sys; print(sys.argv[1:], input())', { stdin: 'words' }),
    ).toMatchObject({
      language: 'python',
      version: expect.stringMatching(/^3\.11\.\d+$/),
      run: { stdout: "['1', '2', '3'] words\n", stderr: '', output: "['1', '2', '3'] words\n", code: 0, signal: null },
    });
    expect(
      await client.execute({ language: 'ruby', files: main('puts ARGV.inspect'), args: ['a b', '$(c)'] }),
    ).toMatchObject({
      run: { stdout: '["a b", "$(c)"]\n', code: 0 },
    });
    expect(await client.execute('javascript', 'console.log(1); process.exit(3)')).toMatchObject({
      run: { stdout: '1\n', code: 3, status: 'RE', message: 'Exited with error status 3' },
    });
  });

  it('answers with all fields of a run', async () => {
    expect(await execute({ language: 'py', files: main('print(5)') })).toEqual({
      language: 'python',
      version: expect.any(String),
      run: {
        stdout: '5\n',
        stderr: '',
        output: '5\n',
        code: 0,
        signal: null,
        message: null,
        status: null,
        cpu_time: expect.any(Number),
        wall_time: expect.any(Number),
        memory: expect.any(Number),
      },
    });
  });

  it('has the files of a program beside each other, in a folder that is its own', async () => {
    const files = [
      {
        name: 'main.py',
        content:
          'import helper, json, os, data.more\nprint(helper.x, json.mine, data.more.y, open("raw", "rb").read(), sorted(os.listdir(".")), oct(os.stat(".").st_mode)[-3:], os.listdir("/tmp") == [])',
      },
      { name: 'helper.py', content: 'x = "ü"' },
      { name: 'json.py', content: 'mine = True' },
      { name: 'data/more.py', content: 'y = 5' },
      { name: 'raw', content: '/w\nAB\n', encoding: 'base64' },
      { name: 'hex', content: 'f f\n00', encoding: 'hex' },
    ];
    const seen = `ü True 5 b'\\xff\\x00\\x01' ['__pycache__', 'data', 'helper.py', 'hex', 'json.py', 'main.py', 'raw'] 700 False\n`;
    // At first plainly, and then from a fork server.
    expect((await execute({ language: 'python', files })).run).toMatchObject({ stdout: seen, stderr: '', code: 0 });
    const parent = {
      language: 'python',
      files: main(`import os; print(open(f'/proc/{os.getppid()}/cmdline').read())`),
    };
    await waitUntil('it is forked', async () => (await execute(parent)).run.stdout.includes('fork-server'));
    expect((await execute({ language: 'python', files })).run).toMatchObject({ stdout: seen, stderr: '', code: 0 });
    expect((await execute({ language: 'python', files: main('import json; print(json.dumps([1]))') })).run.stdout).toBe(
      '[1]\n',
    );
    const given = { language: 'python', stdin: 'a\nb', args: ['é\r\n', 'a\rb', ''] };
    const read = main('import sys; print(sys.argv[1:], sys.stdin.read().split(), __file__[-5:])');
    expect((await execute({ ...given, files: read })).run.stdout).toBe("['é\\r\\n', 'a\\rb', ''] ['a', 'b'] /main\n");
    const long = 'x'.repeat(90_000);
    const count = main('import sys; print(len(sys.stdin.read()))');
    expect((await execute({ language: 'python', stdin: long, files: count })).run.stdout).toBe('90000\n');
    const ruby = [
      { name: 'main.rb', content: 'require_relative "other"; puts other, $stdin.read, __FILE__ == $0' },
      { name: 'other.rb', content: 'def other = "second"' },
    ];
    expect((await execute({ language: 'ruby', files: ruby, stdin: 'in' })).run.output).toBe('second\nin\ntrue\n');
  });

  it('keeps the files of a run from its neighbours', async () => {
    const owner = execute({
      language: 'shell',
      files: [...main('sleep 1.5; cat secret'), { name: 'secret', content: 'SECRET' }],
    });
    const spy = main('sleep 0.5; cat /tmp/run_*/* 2>&1 | grep -v spied; ls /tmp/run_*/ 2>&1 | grep -c secret; : spied');
    expect((await execute({ language: 'shell', files: spy })).run.output).not.toContain('SECRET');
    expect((await execute({ language: 'shell', files: spy })).run.output).toMatch(/0\n$/);
    expect((await owner).run.stdout).toBe('SECRET');
    expect((await execute({ language: 'shell', files: main('ls /tmp | grep -c run_') })).run.stdout).toBe('1\n');
  });

  it.each([0, -1])('takes a limit of %j for one that is not there', async (limit) => {
    const code = main('import time; time.sleep(0.2); x = bytearray(50_000_000); print(len(x))');
    const { run } = await execute({ language: 'python', run_timeout: limit, run_memory_limit: limit, files: code });
    expect(run).toMatchObject({ stdout: '50000000\n', stderr: '', code: 0, status: null });
  });

  it('has both streams in their order', async () => {
    // It goes on after its output is read: what waits in two pipes has no order.
    const files = main(`import fcntl, os, struct, termios, time
def say(to, text):
  os.write(to, text.encode())
  while struct.unpack("i", fcntl.ioctl(to, termios.FIONREAD, bytes(4)))[0] > 0: time.sleep(0.01)
for n in (1, 2, 3):
  say(1, f"out {n}\\n")
  say(2, f"err {n}\\n")`);
    const { run } = await execute({ language: 'python', files });
    expect(run.output).toBe('out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n');
  });

  it.each([
    [
      'its time',
      { language: 'shell', run_timeout: 200, files: main('echo begun; sleep 60') },
      { status: 'TO', signal: 'SIGKILL', code: null, stdout: 'begun\n' },
    ],
    ['a signal', { language: 'shell', files: main('kill -TERM $$') }, { status: 'SG', signal: 'SIGTERM', code: null }],
    [
      'too much output',
      { language: 'shell', files: main('head -c 20000 /dev/zero | tr "\\0" x') },
      { status: 'OL', code: 0 },
    ],
    [
      'too many errors',
      { language: 'shell', files: main('head -c 20000 /dev/zero | tr "\\0" x >&2') },
      { status: 'EL', code: 0 },
    ],
    [
      'its memory',
      { language: 'python', run_memory_limit: 60_000_000, files: main('x = bytearray(100_000_000)') },
      { status: 'RE', code: 1, stderr: expect.stringContaining('MemoryError') },
    ],
    [
      'all memory',
      { language: 'python', files: main('x = bytearray(400_000_000)') },
      { status: 'SG', signal: 'SIGKILL' },
    ],
  ])('says that %s has ended a run', async (_, request, expected) => {
    const { run_timeout: firstMs = 0 } = request as { run_timeout?: number };
    const limited = async (ms: number): Promise<Ran['run']> =>
      (await execute(firstMs === 0 ? request : { ...request, run_timeout: ms })).run;
    const run = await inTime(firstMs, limited, ({ stdout }) => firstMs === 0 || stdout !== '');
    expect(run).toMatchObject(expected);
    expect((await execute({ language: request.language, files: main('') })).run).toMatchObject({
      status: null,
      code: 0,
    });
  });

  it.each([
    ['a language that is not there', { language: 'cobol', files: main('') }, 'cobol-* runtime is unknown'],
    [
      'a version that is not there',
      { language: 'python', version: '2.x', files: main('') },
      'python-2.x runtime is unknown',
    ],
    [
      'a time that is too long',
      { language: 'python', run_timeout: 20_000, files: main('') },
      'run_timeout cannot exceed the configured limit of 10000',
    ],
    [
      'memory that is not there',
      { language: 'python', run_memory_limit: 1e9, files: main('') },
      /^run_memory_limit cannot exceed/,
    ],
    ['no files', { language: 'python', files: [] }, /files/],
    ['a path that leads out', { language: 'python', files: [{ name: '../x', content: '' }] }, /files\.0\.name/],
    [
      'a file that is a folder, too',
      {
        language: 'python',
        files: [
          { name: 'main', content: '' },
          { name: 'a/b/c', content: '' },
          { name: 'a/b', content: '' },
        ],
      },
      /files: "a\/b" is a file, and so no folder for "a\/b\/c"/,
    ],
    [
      'two files of one name',
      {
        language: 'python',
        files: [{ name: 'file1.code', content: '1' }, { content: '2' }],
      },
      /files: two of them have the same name, "file1.code"/,
    ],
    ...[
      ['hex', 'abc'],
      ['hex', 'zz'],
      ['base64', 'a'],
      ['base64', 'ab*='],
      ['base64', 'ab==cd=='],
    ].map(([encoding, content]): [string, object, RegExp] => [
      `${encoding} that is none: ${content}`,
      { language: 'python', files: [{ content, encoding }] },
      /files\.0\.content: is not in the encoding that is named/,
    ]),
    ['a path from the root', { language: 'python', files: [{ name: '/tmp/x', content: '' }] }, /files\.0\.name/],
    [
      'a name that looks like a command',
      { language: 'python; id', files: main('') },
      'python; id-* runtime is unknown',
    ],
    ['an argument with a null', { language: 'python', files: main(''), args: ['a\0b'] }, /args\.0/],
  ])('refuses %s with a message', async (_, request, message) => {
    const { status, body } = await served.ask('POST', '/api/v2/execute', { version: '*', ...request });
    expect({ status, body }).toEqual({
      status: 400,
      body: expect.objectContaining({
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      }),
    });
  });
});
