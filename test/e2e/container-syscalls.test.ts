import { afterAll, describe, expect, it } from 'vitest';
import type { ContainerSpec } from '../../src/engines/index.ts';
import { newSpec, removeAll, startContainer } from '../support/containers.ts';
import { dockerForTests } from '../support/docker.ts';
import { DENIED_CALLS, DENIED_SOCKETS } from '../support/syscalls.ts';

const { engine, image, why } = await dockerForTests();
const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
/** No permission, or no such call. */
const DENIED = /^(1|38)$/;

async function run(command: readonly string[], more: Partial<ContainerSpec> = {}): Promise<string> {
  const tmp = {
    kind: 'tmpfs',
    target: '/tmp',
    bytes: 200_000_000,
    mode: 0o1777,
    uid: 4711,
    gid: 4712,
    exec: true,
  } as const;
  const spec = newSpec(image, '', { stdin: false, mounts: [tmp], memoryBytes: 1e9, ...more, command });
  const { id, out, closed } = await startContainer(engine, spec);
  const [{ code }] = await Promise.all([engine.waitContainer(id), closed]);
  return `${out.stdout}${out.stderr}exit ${code}`;
}

const perl = (program: string): Promise<string> => run(['perl', '-e', program]);
const bash = (program: string, more?: Partial<ContainerSpec>): Promise<string> => run(['bash', '-c', program], more);

/** Each in a process of its own: a call that is let through may do anything. Says "name: errno", or 0 when it was let through. */
const tried = (name: string, number: number, args: string): string =>
  `unless (my $pid = fork) { $! = 0; my @a = (${args}); my $r = syscall(${number}, @a); ` +
  `print "${name}: ", ($r == -1 ? $! + 0 : 0), "\\n"; exit 0 } else { waitpid $pid, 0 }`;

const answers = (output: string): Record<string, string> =>
  Object.fromEntries([...output.matchAll(/^(.+): (\d+)$/gm)].map(([, name = '', errno = '']) => [name, errno]));

describe.skipIf(why !== '')(`the system calls of a container${why === '' ? '' : ` (${why})`}`, () => {
  afterAll(() => removeAll(engine, []));

  it('are not those that reach what the whole machine shares, other processes, or the system itself', async () => {
    const here = DENIED_CALLS.flatMap((one) => {
      const number = one[arch];
      return number === null ? [] : [{ ...one, number }];
    });
    const said = answers(
      await perl(`$| = 1; ${here.map(({ name, number, args }) => tried(name, number, args)).join('; ')}`),
    );
    expect(said).toEqual(Object.fromEntries(here.map(({ name }) => [name, expect.stringMatching(DENIED)])));
  });

  it('open only sockets of files, TCP and UDP, and the one for its own addresses', async () => {
    const number = arch === 'arm64' ? 198 : 41;
    const tries = DENIED_SOCKETS.map(([name, ...args]) => tried(name, number, args.join(', ')));
    const fine = [
      ['UNIX', 1, 1 | 0o2000000, 0],
      ['TCP', 2, 1 | 0o2004000, 6],
      ['TCP over IPv6', 10, 1, 0],
      ['UDP', 2, 2, 17],
      ['addresses', 16, 3, 0],
    ] as const;
    const allowed = fine.map(([name, ...args]) => tried(name, number, args.join(', ')));
    expect(answers(await perl(`$| = 1; ${[...tries, ...allowed].join('; ')}`))).toEqual({
      ...Object.fromEntries(DENIED_SOCKETS.map(([name]) => [name, expect.stringMatching(DENIED)])),
      ...Object.fromEntries(fine.map(([name]) => [name, '0'])),
    });
  });

  it.skipIf(arch !== 'x64')('are not those of 32-bit programs, whose arguments cannot be filtered', async () => {
    // mov eax, 20 (getpid); int 0x80; exit_group(0) as 64 bits have it.
    const code = 'b814000000cd80bfe700000089f831ff0f05';
    const header =
      '7f454c46020101000000000000000000' +
      '02003e0001000000780040000000000040000000000000000000000000000000000000004000380001000000000000000' +
      '100000005000000000000000000000000004000000000000000400000000000' +
      '8a000000000000008a0000000000000000100000000000';
    const file = `print pack("H*", "${header}00${code}")`;
    const output = await bash(`perl -e '${file}' > /tmp/x && chmod 700 /tmp/x && /tmp/x; echo "ended with $?"`);
    // SIGSYS.
    expect(output).toContain('ended with 159');
  });

  it('cannot block a file for other processes of the same user, read-only or not: they take no lease on it', async () => {
    const [write, setDelegation] = ['pack("q", 1)', 1040];
    const tries = [
      ['a lease', 1024, '1'],
      ['a lease for reading', 1024, '0'],
      ['a lease with bits that the kernel overlooks', '0x100000400', '1'],
      ['a delegation', setDelegation, write],
      ['news of a folder', 1026, '1'],
    ] as const;
    const allowed = [
      ['a lock', 6, 'pack("ssllll", 0, 0, 0, 0, 0, 0)'],
      ['a lock of its own', 37, 'pack("ssx4qqix4", 0, 0, 0, 0, 0)'],
      ['a copy', 1030, '100'],
      ['a flag', 4, '2048'],
    ] as const;
    const call = arch === 'arm64' ? 25 : 72;
    const all = [...tries, ...allowed].map(([name, command, arg]) =>
      tried(name, call, `fileno($file), ${command}, ${arg}`),
    );
    const said = answers(await perl(`$| = 1; open my $file, "+>", "/tmp/file"; ${all.join('; ')}`));
    expect(said).toEqual({
      ...Object.fromEntries(tries.map(([name]) => [name, expect.stringMatching(DENIED)])),
      ...Object.fromEntries(allowed.map(([name]) => [name, '0'])),
    });
  });

  it('are those that ordinary programs need', async () => {
    const program = `
      const { Worker } = require('node:worker_threads');
      const { execFileSync } = require('node:child_process');
      const fs = require('node:fs'), os = require('node:os');
      fs.watch('/tmp', () => {}).close();
      os.networkInterfaces();
      os.setPriority(0, 10);
      const thread = 'require("node:worker_threads").parentPort.postMessage(1)';
      new Worker(thread, { eval: true }).on('message', async () => {
        execFileSync('true');
        await fs.promises.copyFile('/etc/passwd', '/tmp/copy');
        await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
        console.log('node works');
      });`;
    const work = [
      'cd /tmp; export HOME=/tmp',
      'ln -s /etc a && mkfifo f && cp -r /etc/default d && tar cf d.tar d && tail -n 1 /etc/passwd > p && sort p | uniq',
      `perl -e 'my @a = getpwuid 0; fork or exit; wait; print "perl works\\n"'`,
      'git init -q g && cd g && echo 1 > 1 && git add 1 && git -c user.name=x -c user.email=x commit -qm 1 && git fsck && echo git works; cd ..',
      `node <<'END'\n${program}\nEND`,
      'ulimit -c 0; ulimit -n 100; nice -n 5 timeout 5 true; getent hosts localhost; setsid true; echo shell works',
      `script -qc 'echo a terminal works' /dev/null`,
    ];
    const output = await bash(work.join('\n'), { pids: 200 });
    for (const what of ['perl', 'git', 'node', 'shell', 'a terminal']) expect(output).toContain(`${what} works`);
    expect(output).toMatch(/exit 0$/);
  });

  it('make no file larger than the limit, in any way', async () => {
    const tries = ['head -c 3000000 /dev/zero > /tmp/a', 'truncate -s 3M /tmp/b', 'fallocate -l 3M /tmp/c'];
    const output = await bash(`${tries.join('; ')}; echo; stat -c '%n %s' /tmp/*; exit 0`, { fileBytes: 2_000_000 });
    expect(output).toContain('/tmp/a 2000000');
    expect(output).toContain('/tmp/b 0');
    expect(output).toContain('/tmp/c 0');
  });

  it('leave signals and queues to other processes of the same user', async () => {
    const output = await bash('ulimit -i; ulimit -q; ulimit -i 5000 || ulimit -q 300000 || echo no more');
    expect(output).toMatch(/^4096\n204800\nno more\n/);
  });

  it('start no program of the machine when a process crashes, and leave no dump', async () => {
    const output = await bash(
      'grep core /proc/self/limits; ulimit -c unlimited || echo no more; cd /tmp; bash -c "kill -ABRT \\$\\$"; ls',
    );
    expect(output).toMatch(/Max core file size +1 +1 +bytes/);
    expect(output).toContain('no more');
    expect(output).not.toMatch(/^core/m);
  });

  it('open only so many terminals, because a machine has few', async () => {
    const open = `my @all; while (open my $one, "+<", "/dev/ptmx") { push @all, $one } print scalar(@all), " terminals: $!"`;
    expect(await perl(open)).toContain('16 terminals: No space left on device');
  });
});
