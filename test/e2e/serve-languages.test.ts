import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram, serveForTest } from '../support/served.ts';
import type { Ran, Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

/** Code with which the body of a request has so many bytes. */
const ofBody = (bytes: number): string => '#'.repeat(bytes - JSON.stringify({ code: '' }).length);

const inside = (container: string, script: string): string =>
  execFileSync('docker', ['exec', '--user', '0', container, 'sh', '-c', script], { encoding: 'utf8' });

/** What processes run, in one line. Those that have ended say nothing any more. */
const ALL = `cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\\0' ' '`;

const withoutNames = ({ stdout, stderr }: Ran): string =>
  `${stdout}${stderr}`
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/\b2\d{9}\b|socket:\[\d+\]|\d\d:\d\d|pipes\/\d+|\/\d+\/fd/g, 'N');

describe.skipIf(docker.why !== '')(`programs of a language over HTTP${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest();
  });
  afterAll(async () => {
    expect(await served.end()).toBe(0);
    expect(containers('a')).toEqual([]);
  });

  const containers = (all = ''): string[] => {
    const label = `label=mahabharatha.servers=${served.home}/mahabharatha/servers`;
    const args = ['ps', `-${all}q`, '--no-trunc', '--filter', label, '--filter', 'label=mahabharatha.role=runner'];
    return execFileSync('docker', args, { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  };
  const run = (language: string, code: string): Promise<Ran> => runProgram(served, language, code);
  const inContainer = async (script: string): Promise<string> =>
    inside(String((await run('shell', ':'))['container_id']), script);

  it('a further language is configuration alone: POST /execute/javascript answers with every field', async () => {
    expect(await run('javascript', `console.log('Hello, world!'); console.error('oops'); process.exit(42)`)).toEqual({
      stdout: 'Hello, world!\n',
      stderr: 'oops\n',
      exit_code: 42,
      execution_time_ms: expect.any(Number),
      container_id: expect.stringMatching(/^[0-9a-f]{12}$/),
      language: 'javascript',
      image_name: docker.image,
      memory_used_mb: expect.any(Number),
      cpu_percent: expect.any(Number),
      file_path: expect.stringMatching(/^\/tmp\/exec_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}\.js$/),
    });
    const used = await run('javascript', `const a = Buffer.alloc(60e6, 1); setTimeout(() => a, 300)`);
    expect(used['memory_used_mb']).toBeGreaterThan(60);
    expect(used['execution_time_ms']).toBeGreaterThan(300);
    expect(used['cpu_percent']).toBeGreaterThan(0);
  });

  it('containers are pre-started on boot, one per language, code-runner-<language>-<4 hex digits>; /health says "ok" and "running"', async () => {
    expect((await served.ask('GET', '/health')).body).toMatchObject({
      status: 'ok',
      containers: { javascript: 'running', shell: 'running' },
      uptime_seconds: expect.any(Number),
    });
    const names = containers().map((id) =>
      execFileSync('docker', ['inspect', '-f', '{{.Name}}', id], { encoding: 'utf8' }),
    );
    expect(names.toSorted()).toEqual([
      expect.stringMatching(/^\/code-runner-javascript-[0-9a-f]{4}\n$/),
      expect.stringMatching(/^\/code-runner-shell-[0-9a-f]{4}\n$/),
    ]);
  });

  it.each([
    ['an empty program', '', { stdout: '', stderr: '', exit_code: 0 }],
    ['a syntax error', 'if', { exit_code: 2, stderr: expect.stringContaining('syntax error') }],
    [
      'more than 10 KB',
      'head -c 20000 /dev/zero | tr "\\0" x',
      { stdout: `${'x'.repeat(10_240)}\n[Output truncated at 10KB limit]`, exit_code: 0 },
    ],
    [
      'multibyte at the cut',
      'printf x; for i in $(seq 6000); do printf é; done',
      { stdout: `x${'é'.repeat(5119)}\n[Output truncated at 10KB limit]` },
    ],
    ['no text', String.raw`printf '\377ok'`, { stdout: '\uFFFDok', exit_code: 0 }],
    ['no network', 'cat < /dev/tcp/1.1.1.1/80; ls /sys/class/net', { stdout: 'lo\n' }],
    ['the working directory', 'pwd; ls -ld "$HOME" | cut -c1-10', { stdout: '/tmp\ndrwx------\n' }],
    [
      'no rights',
      `grep CapEff /proc/self/status | tr -d '\\t'; touch /x 2>/dev/null || echo read-only`,
      { stdout: 'CapEff:0000000000000000\nread-only\n' },
    ],
  ])('runs %s', async (_, code, expected) => {
    expect(await run('shell', code)).toMatchObject(expected);
  });

  it('ends a program after 10 seconds with all that it started: exit_code 124 and what it has printed', async () => {
    const ran = await run('shell', `echo begun; trap '' TERM; setsid sleep 100 & while :; do :; done`);
    expect(ran).toMatchObject({ exit_code: 124, stdout: 'begun\n', stderr: 'Execution timed out after 10 s\n' });
    expect(await run('shell', `${ALL} | grep -c "[s]leep 100"`)).toMatchObject({ stdout: '0\n' });
  });

  it('code is not filtered: what a session refuses, a program may try', async () => {
    const code = 'curl() { echo "my $1"; }\ncurl x; sudo x 2> /dev/null || echo none; rm -rf / 2> /dev/null; echo done';
    expect(await run('shell', code)).toMatchObject({ stdout: 'my x\nnone\ndone\n', exit_code: 0 });
    expect(await run('shell', 'echo canary')).toMatchObject({ stdout: 'canary\n' });
  });

  it('keeps programs apart: users, files, signals', async () => {
    const spy = `sleep 0.5; cat /tmp/exec_*.sh /tmp/home_*/* 2>/dev/null | grep -v grep | grep -c 'SECRET'; kill -9 -1 2>/dev/null; for p in /proc/[0-9]*; do kill -9 \${p#/proc/} 2>/dev/null; done`;
    const [owner] = await Promise.all([
      run('shell', 'echo SECRET > "$HOME/own"; echo SECRET > /tmp/left; sleep 1.5; echo lives'),
      run('shell', spy),
      run('shell', spy),
    ]);
    expect(owner).toMatchObject({ stdout: 'lives\n', exit_code: 0 });
    expect((await run('shell', 'ls -A /tmp /dev/shm')).stdout).toMatch(
      /^\/dev\/shm:\n\n\/tmp:\nexec_\S+\.sh\nhome_\S+\nnode_modules\npackage\.json\n$/,
    );
  });

  it('does not let the end of a program wait for its neighbours, nor end them', async () => {
    const order: string[] = [];
    const container = String((await run('shell', ':'))['container_id']);
    const long = run('shell', ': > /tmp/runs; until [ -e /tmp/go ]; do sleep 0.1; done; echo lives').then(
      (ran) => (order.push('long'), ran),
    );
    await waitUntil('the long one runs', () => inside(container, 'ls /tmp').includes('runs'));
    await run('shell', 'echo short').then(() => order.push('short'));
    inside(container, 'touch /tmp/go');
    expect(await long).toMatchObject({ stdout: 'lives\n', exit_code: 0 });
    inside(container, 'rm /tmp/go');
    expect(order).toEqual(['short', 'long']);
  });

  /** Runs beside one that waits. */
  const beside = async (code: string): Promise<string> => {
    const { body } = await served.ask('POST', '/api/v2/execute', {
      language: 'shell',
      version: '*',
      files: [{ content: code }],
    });
    return (body['run'] as Ran).stdout;
  };

  describe('a process that waits for the next program', () => {
    /** Not the look itself. */
    const WAITING = `grep -l 'exec[_]' /proc/[0-9]*/cmdline 2> /dev/null | cut -d / -f 3`;
    const FACTS = [
      'echo "$_ $((SECONDS > 2)) $? $! $-"; declare -p | grep -vE "BASH_ARGC|SECONDS"; set -o; shopt; trap -p; alias; hash',
      'umask; ulimit -a; pwd; echo "$0" "$#" "$@"; env | sort; cat /proc/self/oom_score_adj /proc/self/cgroup',
      // Read by the shell itself: while another program runs, it has signals of its own.
      'while read -r fact; do case $fact in Cap* | NoNew* | Seccomp* | Groups* | Sig*) echo "$fact" ;; esac; done < /proc/$$/status',
      'id; ls -l /proc/$$/fd; echo word > /dev/stderr',
      'tr "\\0" " " < /proc/$$/cmdline; ls -ld "$0" "$HOME"; echo "$BASH_SUBSHELL $LINENO ${BASH_SOURCE[*]} ${FUNCNAME[*]}"',
    ].join('\n');
    it('becomes what another process would have been', async () => {
      const pid = await inContainer(WAITING);
      expect(await run('shell', 'echo $$')).toMatchObject({ stdout: pid });
      // The next one would count this time, and more of it than a program takes.
      await sleep(3100);
      const waited = await run('shell', FACTS);
      expect(await inContainer(`kill -9 $(${WAITING}); sleep 0.1; ${WAITING} | wc -l`)).toBe('0\n');
      const started = await run('shell', FACTS);
      expect(withoutNames(waited)).toBe(withoutNames(started));
    });

    it('keeps its file and its home from other programs, and none can end it', async () => {
      const pid = await inContainer(WAITING);
      const attack = `exec 2> /dev/null
file=$(echo /tmp/exec_*.sh)
for home in /tmp/home_*; do [ "$home" = "$HOME" ] || break; done
ls -d "$file" "$home" | wc -l
cat "$file"; echo 'echo taken' > "$file"; rm -f "$file"; mv "$file" /tmp/gone; ln -sf /tmp/own "$file"
ls "$home"; touch "$home/x"; rmdir "$home"; mv "$home" /tmp/gone; chmod 777 "$home" "$file"
cat /proc/${pid.trim()}/environ; echo > /proc/${pid.trim()}/fd/3
kill -9 -1; kill -9 $(${WAITING}); kill -STOP $(${WAITING}); ls /tmp | grep -c gone`;
      expect(await beside(attack)).toBe('2\n0\n');
      expect(await run('shell', 'echo $$; ls -A "$HOME"; wc -l < "$0"')).toMatchObject({
        stdout: `${pid}0\n`,
        stderr: '',
      });
    });

    it('runs no part of a program for which there is no room', async () => {
      const pid = await inContainer(WAITING);
      const container = String((await run('shell', ':'))['container_id']);
      const full = beside(
        'exec 2> /dev/null; cat /dev/zero > /tmp/big; : > /dev/shm/full; while [ -e /dev/shm/full ]; do cat /dev/zero >> /tmp/big; sleep 0.01; done; echo over',
      );
      await waitUntil('it is full', () => inside(container, 'ls /dev/shm').includes('full'));
      const long = `echo begun\n${'#'.repeat(9000)}\necho $$`;
      const ran = await run('shell', long);
      expect(ran).toMatchObject({ stdout: expect.stringMatching(/^begun\n\d+\n$/), stderr: '', exit_code: 0 });
      expect(ran.stdout).not.toContain(pid);
      inside(container, 'rm /dev/shm/full');
      expect(await full).toBe('over\n');
    });
  });

  const figures = async (): Promise<string> => (await fetch(`${served.address}/metrics`)).text();

  it.each(['/execute/shell', '/api/v2/execute'])(
    'ends the programs of clients that have gone, also those that wait: %s',
    async (place) => {
      const killed = async (): Promise<number> =>
        Number(/executions_total\{kind="shell",outcome="killed"\} (\d+)/.exec(await figures())?.[1] ?? 0);
      const before = await killed();
      const gone = new AbortController();
      const code = 'until [ -e /tmp/go ]; do sleep 0.1; done; echo not killed';
      const body = JSON.stringify({ code, language: 'shell', version: '*', files: [{ content: code }] });
      const headers = { 'content-type': 'application/json' };
      const ask = (signal: AbortSignal | null): Promise<Response> =>
        fetch(`${served.address}${place}`, { method: 'POST', headers, body, signal });
      const container = String((await run('shell', ':'))['container_id']);
      const stays = ask(null);
      const leave = Array.from({ length: 20 }, () => ask(gone.signal).catch(() => 'left'));
      await waitUntil('five wait', async () => (await figures()).includes('programs_waiting{language="shell"} 5'));
      gone.abort();
      expect(new Set(await Promise.all(leave))).toEqual(new Set(['left']));
      await waitUntil('one is left', async () => (await figures()).includes('programs_running{language="shell"} 1\n'));
      expect(await figures()).toContain('programs_waiting{language="shell"} 0');
      await waitUntil('all are counted', async () => (await killed()) >= before + 20);
      expect(await killed()).toBe(before + 20);
      inside(container, 'touch /tmp/go');
      expect(await (await stays).text()).toContain('not killed');
      inside(container, 'rm /tmp/go');
    },
  );

  it('parallel execution is safe: 40 programs at once, each with its own output', async () => {
    const ran = await Promise.all(
      Array.from({ length: 40 }, (_, number) =>
        run('shell', `sleep 0.0${number % 10}; echo ${number}; echo ${number} >&2`),
      ),
    );
    expect(ran.map(({ stdout, stderr }) => [stdout, stderr])).toEqual(
      ran.map((_, number) => [`${number}\n`, `${number}\n`]),
    );
  });

  it.each([
    ['forks without end', ':(){ :|:& };:'],
    ['takes all memory', 'head -c 400m /dev/zero | tail -c 400m | wc -c'],
    ['fills the disk', 'head -c 300m /dev/zero > /tmp/big'],
    // Faster than a shell, and than empty files: as many links as there may be, in both places. It has ten seconds.
    [
      'fills the disk with names',
      `node -e 'for (const top of ["/tmp", "/dev/shm"]) try { for (let n = 0; n < 1e7; n++) fs.symlinkSync("x", top + "/" + n) } catch (error) { console.log(error.code) }'`,
      'ENOSPC\nENOSPC\n',
    ],
    ['prints without end', 'timeout 1 yes'],
    ['kills everything', 'kill -9 -1'],
  ])('is as before after a program that %s', async (_, code, printed = expect.any(String)) => {
    const before = containers();
    expect(await run('shell', code)).toMatchObject({ stdout: printed });
    expect(containers()).toEqual(before);
    expect(await run('shell', 'echo canary')).toMatchObject({ stdout: 'canary\n', exit_code: 0 });
  });

  it.each(['kill', 'rm --force --volumes'])('makes a container anew that "docker %s" has ended', async (how) => {
    execFileSync('docker', [...how.split(' '), ...containers()]);
    const answers = await Promise.all([1, 2, 3].map((number) => run('shell', `echo ${number}`)));
    expect(answers.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '3\n']);
    await run('javascript', '');
    expect(containers()).toHaveLength(2);
  });

  it('a request body of more than 100 KB gets 413, code that is no text 400, an unknown language 404', async () => {
    expect(await served.ask('POST', '/execute/cobol', { code: '' })).toMatchObject({ status: 404 });
    expect(await served.ask('POST', '/execute/shell', { code: 5 })).toMatchObject({ status: 400 });
    expect(await served.ask('POST', '/execute/shell', {})).toMatchObject({ status: 400 });
    expect(await served.ask('POST', '/execute/shell', { code: ofBody(102_401) })).toMatchObject({ status: 413 });
    expect(await served.ask('POST', '/execute/shell', { code: ofBody(102_400) })).toMatchObject({ status: 200 });
  });
});
