import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PYTHON_AND_RUBY, whyNoLanguages } from '../support/language-images.ts';
import { runProgram, serveForTest } from '../support/served.ts';
import type { Ran, Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage } from '../support/worker-image.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));

type Language = 'python' | 'ruby';

const EXAMPLE = `numbers = [1, 2, 3, 4, 5]\ntotal = sum(numbers)\nprint(f"Sum: {total}")`;
const EXTENSION = { python: 'py', ruby: 'rb' } as const;

describe.skipIf(whyNoLanguages !== '')(`Python and Ruby over HTTP ${whyNoLanguages}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest({ config: PYTHON_AND_RUBY });
  });
  afterAll(async () => {
    expect(await served.end()).toBe(0);
    expect(runners(true)).toEqual([]);
  });

  const runners = (all = false): { id: string; name: string }[] => {
    const label = `label=mahabharatha.servers=${served.home}/mahabharatha/servers`;
    const args = ['ps', `--all=${all}`, '--no-trunc', '--format', '{{.ID}} {{.Names}}', '--filter', label];
    const lines = execFileSync('docker', args, { encoding: 'utf8' }).split('\n');
    return lines.filter((line) => line !== '').map((line) => ({ id: line.slice(0, 64), name: line.slice(65) }));
  };
  const runnerOf = (language: Language): string =>
    runners().find(({ name }) => name.startsWith(`code-runner-${language}-`))?.id ?? '';
  const health = async (): Promise<unknown> => (await served.ask('GET', '/health')).body;
  const run = (language: Language, code: string): Promise<Ran> => runProgram(served, language, code);

  it.each([
    ['python', `print('Hello, world!')`, 'Hello, world!\n'],
    ['ruby', `puts 'Hello from Ruby'`, 'Hello from Ruby\n'],
  ] as const)('POST /execute/%s answers with every field of the specification', async (language, code, stdout) => {
    const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
    const ran = await run(language, code);
    expect(ran).toEqual({
      stdout,
      stderr: '',
      exit_code: 0,
      execution_time_ms: expect.any(Number),
      container_id: runnerOf(language).slice(0, 12),
      language,
      image_name: `mahabharatha-${language}:bookworm`,
      memory_used_mb: expect.any(Number),
      cpu_percent: expect.any(Number),
      file_path: expect.stringMatching(new RegExp(`^/tmp/exec_${uuid}\\.${EXTENSION[language]}$`)),
    });
    expect(ran['memory_used_mb']).toBeGreaterThan(1);
  });

  it.each([
    ['python', 'print(__file__)'],
    ['ruby', 'puts File.expand_path(__FILE__)'],
  ] as const)('%s: the code is at file_path, /tmp/exec_<uuid>, another one each time', async (language, code) => {
    const all = await Promise.all([1, 2, 3].map(() => run(language, code)));
    expect(all.map(({ stdout }) => stdout)).toEqual(all.map(({ file_path: file }) => `${file}\n`));
    expect(new Set(all.map(({ stdout }) => stdout)).size).toBe(3);
  });

  it('a page of http://localhost:3000 may read the answer', async () => {
    const origin = 'http://localhost:3000';
    const { headers } = await served.ask('POST', '/execute/python', { code: '' }, { origin });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
  });

  it('one long-lived container per language, code-runner-<language>-<4 hex digits>: 0.5 CPU, 256 MB, no network, a read-only root', async () => {
    for (const language of ['python', 'ruby'] as const) {
      const [info] = JSON.parse(execFileSync('docker', ['inspect', runnerOf(language)], { encoding: 'utf8' })) as [
        { Name: string; HostConfig: Record<string, unknown> },
      ];
      expect(info.Name).toMatch(new RegExp(`^/code-runner-${language}-[0-9a-f]{4}$`));
      expect(info.HostConfig).toMatchObject({
        NanoCpus: 5e8,
        Memory: 256 * 1024 ** 2,
        NetworkMode: 'none',
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
      });
    }
    const [first, second] = [await run('python', ''), await run('python', '')];
    expect(first['container_id']).toBe(second['container_id']);
  });

  it.each([
    ['python', 'an empty code string runs, without output', '', { stdout: '', stderr: '', exit_code: 0 }],
    ['ruby', 'an empty code string runs, without output', '', { stdout: '', stderr: '', exit_code: 0 }],
    [
      'python',
      'a syntax error is a result with status 200',
      'if',
      { exit_code: 1, stderr: expect.stringContaining('SyntaxError: invalid syntax') },
    ],
    [
      'ruby',
      'a syntax error is a result with status 200',
      'if',
      { exit_code: 1, stderr: expect.stringContaining('syntax error') },
    ],
    ['python', 'a runtime exception is a result with status 200', 'print(1)\n1/0', { exit_code: 1, stdout: '1\n' }],
    [
      'ruby',
      'the example with an error',
      `puts "Hello"\nraise "Something went wrong"\nputs "This won't print"`,
      { exit_code: 1, stdout: 'Hello\n', stderr: expect.stringContaining('Something went wrong (RuntimeError)') },
    ],
    ['python', 'an exit status', 'import sys; sys.exit(42)', { exit_code: 42 }],
    ['ruby', 'an exit status', 'exit 42', { exit_code: 42 }],
    ['python', 'the working directory is /tmp', 'import os; print(os.getcwd())', { stdout: '/tmp\n' }],
    ['ruby', 'the working directory is /tmp', 'puts Dir.pwd', { stdout: '/tmp\n' }],
    ['python', 'no input', 'input()', { exit_code: 1, stderr: expect.stringContaining('EOFError') }],
    ['ruby', 'no input', 'p gets', { stdout: 'nil\n', exit_code: 0 }],
    [
      'python',
      'code that tries network access fails',
      `import socket\ntry: socket.create_connection(('1.1.1.1', 80), 3)\nexcept OSError as e: print('no', type(e).__name__)`,
      { stdout: 'no OSError\n' },
    ],
    ['python', 'the example with numbers', EXAMPLE, { stdout: 'Sum: 15\n', stderr: '', exit_code: 0 }],
    ['python', 'unicode', `print('ü€🎉')`, { stdout: 'ü€🎉\n' }],
    ['ruby', 'unicode', `puts 'ü€🎉'`, { stdout: 'ü€🎉\n' }],
    [
      'python',
      'stdout and stderr beyond 10 KB are cut, with the line [Output truncated at 10KB limit]',
      `import sys; print('x' * 20000); sys.stderr.write('y' * 20000)`,
      {
        stdout: `${'x'.repeat(10_240)}\n[Output truncated at 10KB limit]`,
        stderr: `${'y'.repeat(10_240)}\n[Output truncated at 10KB limit]`,
        exit_code: 0,
      },
    ],
  ] as const)('%s: %s', async (language, _, code, expected) => {
    expect(await run(language, code)).toMatchObject(expected);
  });

  // Each in a container of its own.
  it.concurrent.each([
    ['python', `print('begun', flush=True)\nwhile True: pass`],
    ['ruby', `$stdout.sync = true\nputs 'begun'\nloop {}`],
  ] as const)(
    '%s: an infinite loop times out at 10 seconds: exit_code 124, partial output and a message',
    async (language, code) => {
      const ran = await run(language, code);
      expect(ran).toMatchObject({ exit_code: 124, stdout: 'begun\n', stderr: 'Execution timed out after 10 s\n' });
      expect(ran['execution_time_ms']).toBeGreaterThanOrEqual(10_000);
    },
  );

  it.each([
    ['python', 'x = bytearray(400 * 1024 ** 2)\nprint(len(x))'],
    ['ruby', 'x = "x" * (400 * 1024 ** 2)\nputs x.size'],
  ] as const)(
    '%s: code that allocates more than 256 MB is killed, and the next request works',
    async (language, code) => {
      expect(await run(language, code)).toMatchObject({ exit_code: 137, stdout: '' });
      expect(await run(language, language === 'python' ? 'print(1)' : 'puts 1')).toMatchObject({ stdout: '1\n' });
    },
  );

  it('execution_time_ms, memory_used_mb and cpu_percent are those of the execution', async () => {
    const ran = await run('python', 'x = bytearray(80 * 1024 ** 2)\nimport time; time.sleep(0.4)');
    expect(ran['execution_time_ms']).toBeGreaterThanOrEqual(400);
    expect(ran['memory_used_mb']).toBeGreaterThan(80);
    expect(ran['memory_used_mb']).toBeLessThan(140);
    expect(ran['cpu_percent']).toBeLessThan(60);
  });

  it('/health says "degraded" and "stopped" after a "docker kill", and the next request makes the container anew', async () => {
    const before = runnerOf('python');
    expect(await health()).toMatchObject({ status: 'ok', containers: { python: 'running', ruby: 'running' } });
    execFileSync('docker', ['kill', before]);
    await waitUntil('the server has seen it', async () => JSON.stringify(await health()).includes('degraded'));
    expect(await health()).toMatchObject({ status: 'degraded', containers: { python: 'stopped', ruby: 'running' } });
    expect(await run('python', 'print("again")')).toMatchObject({ stdout: 'again\n' });
    expect(await health()).toMatchObject({ status: 'ok', uptime_seconds: expect.any(Number) });
    expect(runnerOf('python')).not.toBe(before);
  });

  it('rapid concurrent requests share the container, each with its own output', async () => {
    const ran = await Promise.all(Array.from({ length: 20 }, (_, n) => run('python', `print(${n} ** 2)`)));
    expect(ran.map(({ stdout }) => stdout)).toEqual(ran.map((_, n) => `${n ** 2}\n`));
  });

  it('fails fast at its start when no engine can be reached', () => {
    const env = { ...process.env, DOCKER_HOST: 'unix:///nowhere/engine.sock', XDG_STATE_HOME: served.home };
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'serve', '--port', '0'], {
      env,
      cwd: served.home,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 4,
      stderr: expect.stringContaining('No container engine can be reached'),
    });
  });
});
