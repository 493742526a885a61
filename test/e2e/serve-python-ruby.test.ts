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
  ] as const)('%s: the response has every field of the specification', async (language, code, stdout) => {
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

  it('one long-lived container for each language: 0.5 CPU, 256 MB, no network, read-only, all capabilities dropped', async () => {
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
    ['python', 'an empty program', '', { stdout: '', stderr: '', exit_code: 0 }],
    ['ruby', 'an empty program', '', { stdout: '', stderr: '', exit_code: 0 }],
    [
      'python',
      'a syntax error',
      'if',
      { exit_code: 1, stderr: expect.stringContaining('SyntaxError: invalid syntax') },
    ],
    ['ruby', 'a syntax error', 'if', { exit_code: 1, stderr: expect.stringContaining('syntax error') }],
    ['python', 'an exception', 'print(1)\n1/0', { exit_code: 1, stdout: '1\n' }],
    [
      'ruby',
      'an exception, as in the example',
      `puts "Hello"\nraise "Something went wrong"\nputs "This won't print"`,
      { exit_code: 1, stdout: 'Hello\n', stderr: expect.stringContaining('Something went wrong (RuntimeError)') },
    ],
    ['python', 'an exit status', 'import sys; sys.exit(42)', { exit_code: 42 }],
    ['ruby', 'an exit status', 'exit 42', { exit_code: 42 }],
    ['python', 'its working directory', 'import os; print(os.getcwd())', { stdout: '/tmp\n' }],
    ['ruby', 'its working directory', 'puts Dir.pwd', { stdout: '/tmp\n' }],
    ['python', 'no input', 'input()', { exit_code: 1, stderr: expect.stringContaining('EOFError') }],
    ['ruby', 'no input', 'p gets', { stdout: 'nil\n', exit_code: 0 }],
    [
      'python',
      'no network',
      `import socket\ntry: socket.create_connection(('1.1.1.1', 80), 3)\nexcept OSError as e: print('no', type(e).__name__)`,
      { stdout: 'no OSError\n' },
    ],
    ['python', 'unicode', `print('ü€🎉')`, { stdout: 'ü€🎉\n' }],
    ['ruby', 'unicode', `puts 'ü€🎉'`, { stdout: 'ü€🎉\n' }],
    [
      'python',
      'more than 10 KB',
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

  it.each([
    ['python', `print('begun', flush=True)\nwhile True: pass`],
    ['ruby', `$stdout.sync = true\nputs 'begun'\nloop {}`],
  ] as const)('%s: a program is ended after 10 seconds with exit status 124', async (language, code) => {
    const ran = await run(language, code);
    expect(ran).toMatchObject({ exit_code: 124, stdout: 'begun\n', stderr: 'Execution timed out after 10 s\n' });
    expect(ran['execution_time_ms']).toBeGreaterThanOrEqual(10_000);
  });

  it.each([
    ['python', 'x = bytearray(400 * 1024 ** 2)\nprint(len(x))'],
    ['ruby', 'x = "x" * (400 * 1024 ** 2)\nputs x.size'],
  ] as const)('%s: more than 256 MB of memory is the end of the program', async (language, code) => {
    expect(await run(language, code)).toMatchObject({ exit_code: 137, stdout: '' });
    expect(await run(language, language === 'python' ? 'print(1)' : 'puts 1')).toMatchObject({ stdout: '1\n' });
  });

  it('says how long, how much memory and how much of a processor a program has used', async () => {
    const ran = await run('python', 'x = bytearray(80 * 1024 ** 2)\nimport time; time.sleep(0.4)');
    expect(ran['execution_time_ms']).toBeGreaterThanOrEqual(400);
    expect(ran['memory_used_mb']).toBeGreaterThan(80);
    expect(ran['memory_used_mb']).toBeLessThan(140);
    expect(ran['cpu_percent']).toBeLessThan(60);
  });

  it('/health is degraded while a container is stopped, and the next request makes it anew', async () => {
    const before = runnerOf('python');
    expect(await health()).toMatchObject({ status: 'ok', containers: { python: 'running', ruby: 'running' } });
    execFileSync('docker', ['kill', before]);
    await waitUntil('the server has seen it', async () => JSON.stringify(await health()).includes('degraded'));
    expect(await health()).toMatchObject({ status: 'degraded', containers: { python: 'stopped', ruby: 'running' } });
    expect(await run('python', 'print("again")')).toMatchObject({ stdout: 'again\n' });
    expect(await health()).toMatchObject({ status: 'ok', uptime_seconds: expect.any(Number) });
    expect(runnerOf('python')).not.toBe(before);
  });

  it('runs many programs at once, each with its own output', async () => {
    const ran = await Promise.all(Array.from({ length: 20 }, (_, n) => run('python', `print(${n} ** 2)`)));
    expect(ran.map(({ stdout }) => stdout)).toEqual(ran.map((_, n) => `${n ** 2}\n`));
  });

  it('fails at once without an engine', () => {
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
