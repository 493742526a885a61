import { execFile, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomId } from '../../src/lib/index.ts';
import { PYTHON_AND_RUBY, whyNoLanguages } from '../support/language-images.ts';
import { PYTHON_PROGRAMS, RUBY_PROGRAMS } from '../support/programs.ts';
import { runProgram, serveForTest } from '../support/served.ts';
import type { Ran, Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage } from '../support/worker-image.ts';

/** The same interpreters, in a way that no fork server is known for. */
const PLAIN = [
  `    plainpython: { image: "mahabharatha-python:bookworm", extension: .py, command: [env, python, -I, "{filepath}"] }`,
  `    plainruby: { image: "mahabharatha-ruby:bookworm", extension: .rb, command: [env, ruby, "{filepath}"] }`,
].join('\n');

const PARENT = {
  python: `import os; print(os.getppid(), open(f'/proc/{os.getppid()}/cmdline').read().replace('\\0', ' '))`,
  ruby: `puts Process.ppid, File.read("/proc/#{Process.ppid}/cmdline").tr("\\0", ' ')`,
} as const;

/** The agent ends it, too, when it ends a program: both are root. */
const inside = (container: string, command: string): string =>
  spawnSync('docker', ['exec', '--user', '0', container, 'bash', '-c', command], { encoding: 'utf8' }).stdout;

/** The home of a program is there before it is. */
const RUNS = {
  python: 'from time import sleep; open("/tmp/runs", "w")',
  ruby: 'File.write("/tmp/runs", "")',
} as const;
const NUMBER = { python: 'import os; print(os.getpid())', ruby: 'puts Process.pid' } as const;

/** Runs a command as soon as the program of `RUNS` does. How that ends tells nothing: the agent may end it, too. */
const onceItRuns = (container: string, command: string): Promise<void> => {
  const wait = 'for n in {1..400}; do [ ! -e /tmp/runs ] || break; sleep 0.05; done; ls /tmp/runs';
  const args = ['exec', '--user', '0', container, 'bash', '-ec', `${wait}\n${command}`];
  return new Promise((resolve) => execFile('docker', args, () => resolve()));
};

/** What a command says of the fork servers, or of the processes that they have forked ahead; `$p` is a folder in /proc. */
const amongWaiting = (container: string, kind: 'servers' | 'ahead', command: string): string =>
  inside(
    container,
    `for p in /proc/[0-9]*; do
  grep -q '^Uid:.60001' $p/status || continue
  grep -q '^Uid:.60001' /proc/$(sed -n 's/^PPid:.//p' $p/status)/status ${kind === 'ahead' ? '||' : '&&'} continue
  ${command} \${p#/proc/}
done 2> /dev/null; true`,
  ).trim();

describe.skipIf(whyNoLanguages !== '')(`fork servers${whyNoLanguages}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest({ config: `${PYTHON_AND_RUBY}\n${PLAIN}` });
    for (const language of ['python', 'ruby'] as const)
      await waitUntil(`${language} is forked`, async () =>
        (await run(language, PARENT[language])).stdout.includes('fork-server'),
      );
    expect((await run('plainpython', PARENT.python)).stdout).not.toContain('fork-server');
    expect((await run('plainruby', PARENT.ruby)).stdout).not.toContain('fork-server');
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const run = (language: string, code: string): Promise<Ran> => runProgram(served, language, code);
  /** Without what is another one each time. */
  const seen = async (language: string, code: string): Promise<unknown> => {
    const { stdout, stderr, exit_code: exit, file_path: file } = await run(language, code);
    const id = file.slice('/tmp/exec_'.length, -3);
    const same = (text: string): string =>
      text
        .replaceAll(id, 'ID')
        .replaceAll(/0x[0-9a-f]+/g, '0x')
        .replaceAll(/\d\.\d+s/g, 's');
    return { stdout: same(stdout), stderr: same(stderr), exit };
  };

  it.each(PYTHON_PROGRAMS)('a Python program sees no difference: %s', async (code) => {
    expect(await seen('python', code)).toEqual(await seen('plainpython', code));
  });

  it.each(RUBY_PROGRAMS)('a Ruby program sees no difference: %s', async (code) => {
    expect(await seen('ruby', code)).toEqual(await seen('plainruby', code));
  });

  it.each([
    ['python', 'import random, uuid; print(random.random(), uuid.uuid4())'],
    ['ruby', 'puts rand, Random.rand, [*1..100].shuffle.join'],
  ])('%s: chance is another one for each program', async (language, code) => {
    const all = await Promise.all([1, 2, 3].map(() => run(language, code)));
    expect(new Set(all.map(({ stdout }) => stdout)).size).toBe(3);
  });

  it.each([
    [
      'python',
      `import json, builtins, sys\njson.dumps = None\nbuiltins.print = None\nsys.path.clear()`,
      `import json; print(json.dumps([1]))`,
    ],
    [
      'ruby',
      `class String; def upcase = 'x'; end\n$kept = 1\nENV['A'] = 'b'`,
      `puts 'abc'.upcase, $kept.inspect, ENV['A'].inspect`,
    ],
  ])('%s: nothing of a program is there for the next', async (language, first, second) => {
    const before = await run(language, second);
    await run(language, first);
    expect((await run(language, second)).stdout).toBe(before.stdout);
  });

  it.each([
    [
      'python',
      `import os\nfor p in [os.getppid(), 1, -1]:\n  for s in (9, 19):\n    try: os.kill(p, s)\n    except OSError as e: print(e.strerror)`,
    ],
    [
      'ruby',
      `[Process.ppid, 1, -1].each { |p| [9, 19].each { |s| begin; Process.kill(s, p); rescue SystemCallError => e; puts e.class; end } }`,
    ],
  ])('%s: no program reaches the fork server', async (language, attack) => {
    const parent = (await run(language, PARENT[language as 'python'])).stdout;
    await run(language, attack);
    const look =
      language === 'python'
        ? `import os\nfor n in ('fd/3', 'mem', 'environ', 'fd'):\n  try: os.listdir(f'/proc/{os.getppid()}/fd') if n == 'fd' else open(f'/proc/{os.getppid()}/{n}', 'r+b'); print('open')\n  except OSError as e: print(e.strerror)\nprint(sorted(os.listdir('/proc/self/fd')))\ntry: os.listdir('/run/mahabharatha')\nexcept OSError as e: print(e.strerror)`
        : `%w[fd/3 mem environ fd].each { |n| begin; n == 'fd' ? Dir.children("/proc/#{Process.ppid}/fd") : File.open("/proc/#{Process.ppid}/#{n}", 'r+b'); puts 'open'; rescue SystemCallError => e; puts e.class; end }\nbegin; Dir.children('/run/mahabharatha'); rescue SystemCallError => e; puts e.class; end`;
    expect((await run(language, look)).stdout).not.toContain('open');
    expect((await run(language, PARENT[language as 'python'])).stdout).toBe(parent);
  });

  it.each(['python', 'ruby'] as const)(
    '%s: a fork server that has died is replaced, and what runs meanwhile is ended',
    async (language) => {
      const before = (await run(language, PARENT[language])).stdout;
      const container = String((await run(language, ''))['container_id']);
      const sleeping = run(language, `${RUNS[language]}; sleep(60)`);
      // In one look, since a program has ten seconds in all.
      await onceItRuns(
        container,
        `for p in /proc/[0-9]*; do ! grep -q '^Uid:.60001' $p/status || kill -9 \${p#/proc/} || true; done`,
      );
      const stderr = expect.stringContaining('The interpreter that had started this program has ended');
      expect(await sleeping).toMatchObject({ stderr, exit_code: 137, container_id: container });
      await waitUntil('there is another one', async () => {
        const { stdout, exit_code: exit } = await run(language, PARENT[language]);
        expect(exit).toBe(0);
        return stdout.includes('fork-server') && stdout !== before;
      });
    },
  );

  describe.each(['python', 'ruby'] as const)('%s: the process that is forked ahead', (language) => {
    const ready = async (): Promise<{ container: string; ahead: string }> => {
      const container = String((await run(language, ''))['container_id']);
      let ahead = '';
      await waitUntil('it is there', () => (ahead = amongWaiting(container, 'ahead', 'echo')) !== '');
      return { container, ahead };
    };

    it('becomes the next program, and no program can end or trace it', async () => {
      const { container, ahead } = await ready();
      expect(await run(language, NUMBER[language])).toMatchObject({ stdout: `${ahead}\n` });
      const next = (await ready()).ahead;
      expect(next).toMatch(/^\d+$/);
      const attack = `for f in mem environ fd/3; do cat /proc/${next}/$f; done; ls /proc/${next}/fd
for s in TERM STOP KILL; do kill -$s -1; for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || kill -$s \${p#/proc/}; done; done
echo 'tried it'`;
      const spy = ['exec', '--user', '20000:20000', container, 'sh', '-c', `exec 2> /dev/null; ${attack}`];
      expect(spawnSync('docker', spy, { encoding: 'utf8' }).stdout).toBe('tried it\n');
      expect(await run(language, NUMBER[language])).toMatchObject({ stdout: `${next}\n` });
    });

    it('is replaced when it is killed, and nothing is lost when it is stopped', async () => {
      const parent = (await run(language, PARENT[language])).stdout;
      const { container } = await ready();
      amongWaiting(container, 'ahead', 'kill -9');
      expect(await run(language, PARENT[language])).toMatchObject({ stdout: parent, stderr: '', exit_code: 0 });
      await ready();
      amongWaiting(container, 'ahead', 'kill -STOP');
      expect(await run(language, NUMBER[language])).toMatchObject({ stderr: '', exit_code: 0 });
      amongWaiting(container, 'ahead', 'kill -CONT');
      await waitUntil('a program is forked', async () =>
        (await run(language, PARENT[language])).stdout.includes('fork-server'),
      );
    });

    it('ends with its server', async () => {
      const { container, ahead } = await ready();
      amongWaiting(container, 'servers', 'kill -9');
      await waitUntil('it has ended', () => inside(container, `ls /proc/${ahead} 2> /dev/null`) === '');
      await waitUntil('there is another one', async () =>
        (await run(language, PARENT[language])).stdout.includes('fork-server'),
      );
    });
  });

  it('is tried again when its first start fails', async () => {
    const image = `mahabharatha-test-failing:${randomId()}`;
    const file = `FROM mahabharatha-python:bookworm
USER root
RUN printf '#!/bin/sh\\ncase "$*" in *fork-server*) [ -e /tmp/tried ] || { : > /tmp/tried; exit 1; };; esac\\nexec /usr/bin/python3 "$@"\\n' > /usr/local/bin/python && chmod 755 /usr/local/bin/python`;
    const built = spawnSync('docker', ['build', '-q', '-t', image, '-'], { input: file, encoding: 'utf8' });
    expect(built.status, built.stderr).toBe(0);
    const own = await serveForTest({ config: PYTHON_AND_RUBY.replace('mahabharatha-python:bookworm', image) });
    const parent = async (): Promise<string> => (await runProgram(own, 'python', PARENT.python)).stdout;
    expect(await parent()).not.toContain('fork-server');
    await waitUntil('it is forked', async () => (await parent()).includes('fork-server'));
    expect(await own.end()).toBe(0);
    spawnSync('docker', ['rmi', image]);
  });

  it('does not take the interpreter apart at the end of a Python program', async () => {
    const code = `import os\ndef seen(status, os=os, end=os._exit): os.write(1, b'seen'); end(status)\nos._exit = seen`;
    expect(await run('python', code)).toMatchObject({ stdout: 'seen', exit_code: 0 });
    // It may have more to do than is known here.
    expect(await run('python', `${code}\nimport ctypes`)).toMatchObject({ stdout: '', exit_code: 0 });
  });

  it.each([
    [
      'python',
      `import os; ${RUNS.python}\nwhile os.path.exists("/tmp/runs"): sleep(0.05)\nprint("lives")`,
      'print("once")',
    ],
    ['ruby', `${RUNS.ruby}; sleep 0.05 while File.exist?("/tmp/runs"); puts "lives"`, 'puts "once"'],
  ] as const)(
    '%s: a fork server that is too slow is replaced, and ends nothing that runs',
    async (language, long, short) => {
      const before = (await run(language, PARENT[language])).stdout;
      const container = String((await run(language, ''))['container_id']);
      const servers = (command: string): string => amongWaiting(container, 'servers', command);
      const old = servers('echo');
      // A program has ten seconds in all, and half of them pass until the server counts as too slow.
      const running = run(language, long);
      await onceItRuns(container, `kill -STOP ${old}`);
      expect(await run(language, short)).toMatchObject({ stdout: 'once\n', stderr: '', exit_code: 0 });
      inside(container, `kill -CONT ${old}; rm /tmp/runs`);
      expect(await running).toMatchObject({ stdout: 'lives\n', stderr: '', exit_code: 0, container_id: container });
      await waitUntil('there is another one', async () => {
        const { stdout, exit_code: exit } = await run(language, PARENT[language]);
        expect(exit).toBe(0);
        return stdout.includes('fork-server') && stdout !== before;
      });
      expect(servers('echo')).toMatch(/^\d+$/);
      expect(servers('echo')).not.toBe(old);
    },
  );

  it('knows the memory of a program exactly, however short its life was', async () => {
    for (const megabytes of [20, 40, 80]) {
      const code = `x = bytearray(${megabytes} * 1024 ** 2); import os; os._exit(0)`;
      const [least, most] = [await run('python', 'import os; os._exit(0)'), await run('python', code)];
      expect(Number(most['memory_used_mb']) - Number(least['memory_used_mb'])).toBeCloseTo(megabytes, -1);
      const ruby = await run('ruby', `x = 'x' * (${megabytes} * 1024 ** 2); exit!`);
      const none = await run('ruby', 'exit!');
      expect(Number(ruby['memory_used_mb']) - Number(none['memory_used_mb'])).toBeCloseTo(megabytes, -1);
    }
  });
});
