import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PYTHON_AND_RUBY, whyNoLanguages } from '../support/language-images.ts';
import { runProgram, serveForTest } from '../support/served.ts';
import type { Ran, Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage } from '../support/worker-image.ts';

/** What a program does, and what its own answer is. */
const PROGRAMS: readonly (readonly [string, string, object])[] = [
  [
    'leaves daemons of daemons without an environment',
    `import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve('/bin/sleep', ['sleep', '987'], {})
        os._exit(0)
time.sleep(0.2)
print('parent')`,
    { stdout: 'parent\n', exit_code: 0 },
  ],
  [
    'leaves a process whose first thread has ended',
    `import ctypes, os, threading, time
if os.fork() == 0:
    os.setsid()
    threading.Thread(target=time.sleep, args=(987,)).start()
    for end in (1, 2): os.close(end)
    ctypes.CDLL(None).syscall(60, 0)
time.sleep(0.2)
print('parent')`,
    { stdout: 'parent\n', exit_code: 0 },
  ],
  [
    'takes all memory',
    'x = []\nwhile True: x.append(bytearray(10**7))',
    { exit_code: 137, stderr: 'Execution ran out of memory\n' },
  ],
  ['kills every process that it may', 'import os, signal\nos.kill(-1, signal.SIGKILL)\nprint("I")', { stdout: 'I\n' }],
  [
    'kills every process by its number',
    `import os, signal
me = os.getpid()
for pid in range(1, 40000):
    try:
        if pid != me: os.kill(pid, signal.SIGKILL)
    except OSError: pass
print("done")`,
    { stdout: 'done\n' },
  ],
  [
    'writes single bytes',
    'import os\nfor _ in range(5000): os.write(1, b"x")',
    { stdout: 'x'.repeat(5000), exit_code: 0 },
  ],
  [
    'writes a character where its output is cut',
    'print("x" * 10239 + "é")',
    { stdout: `${'x'.repeat(10_239)}\n[Output truncated at 10KB limit]` },
  ],
  ['writes what is no text', String.raw`import os; os.write(1, b"a\xff\xc3")`, { stdout: 'a\uFFFD\uFFFD' }],
  [
    'makes a sparse file',
    'try:\n  open("/tmp/s", "wb").truncate(10**12)\nexcept OSError as e: print(e.errno)',
    { stdout: '27\n' },
  ],
  [
    'fills the disk',
    `try:
  with open("/tmp/big", "wb", 0) as f:
    while True: f.write(b"x" * 10**6)
except OSError as e: print(e.errno)`,
    { stdout: '28\n' },
  ],
  [
    'fills the disk with names',
    `import os
n = 0
try:
  while True:
    os.close(os.open(f"/tmp/{n}", os.O_CREAT))
    n += 1
except OSError as e: print(e.errno)`,
    { stdout: '28\n' },
  ],
  [
    'makes objects that outlive it',
    `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for made in (libc.shmget(0, 10**6, 0o1600), libc.msgget(0, 0o1600), libc.semget(0, 1, 0o1600), libc.mq_open(b"/q", 0o100, 0o600, None)):
  print(made, os.strerror(ctypes.get_errno()))`,
    { stdout: '-1 Function not implemented\n'.repeat(4) },
  ],
  [
    'shares memory with its own processes',
    `import multiprocessing as m
from multiprocessing import shared_memory
def add(lock, number, name):
  with lock: number.value += 1
  other = shared_memory.SharedMemory(name)
  other.buf[0] = 7
  other.close()
memory = shared_memory.SharedMemory(create=True, size=10)
lock, number = m.Lock(), m.Value("i", 0)
all = [m.Process(target=add, args=(lock, number, memory.name)) for _ in range(3)]
for each in all: each.start()
for each in all: each.join()
print(number.value, memory.buf[0])
memory.unlink()`,
    { stdout: '3 7\n' },
  ],
  [
    'leaves a name that is no text',
    String.raw`with open(b"/tmp/\xff", "wb", 0) as f: f.write(b"x" * 4 * 10**6)
with open(b"/dev/shm/\xfe", "wb", 0) as f: f.write(b"x" * 10**6)`,
    { exit_code: 0 },
  ],
  [
    'leaves folders that it has closed to itself',
    `import os
for top in ("/tmp", "/dev/shm"):
  os.makedirs(f"{top}/a/b")
  with open(f"{top}/a/b/c", "wb", 0) as f: f.write(b"x" * 4 * 10**6)
  os.chmod(f"{top}/a/b", 0)
  os.chmod(f"{top}/a", 0)`,
    { exit_code: 0 },
  ],
  [
    'leaves a tree that is deeper than a path can be',
    `import os
os.chdir("/tmp")
for _ in range(3000):
  os.mkdir("d" * 50)
  os.chdir("d" * 50)
with open("f", "wb", 0) as f: f.write(b"x" * 4 * 10**6)
print(1)`,
    { stdout: '1\n' },
  ],
  [
    'leaves modules for the next program',
    'import os\nfor n in ("json", "random", "encodings"): open(f"/tmp/{n}.py", "w").write("print(666)")\nos.chmod("/tmp/json.py", 0o777)',
    { exit_code: 0 },
  ],
  [
    'looks for a network, and for the address of a cloud',
    `import socket
for a in [("169.254.169.254", 80), ("172.17.0.1", 22), ("1.1.1.1", 53)]:
  try:
    socket.create_connection(a, 1)
    print("open", a)
  except OSError as e: print(e.errno)`,
    { stdout: '101\n101\n101\n' },
  ],
  ['ends its interpreter', 'import ctypes\nctypes.string_at(0)', { exit_code: 139 }],
];

/** Each of these goes on until its time is over. */
const ENDLESS: readonly (readonly [string, string])[] = [
  ['stops itself', 'import os, signal\nprint("x", flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)'],
  [
    'ignores signals',
    'import signal, time\nfor s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nprint("x", flush=True)\ntime.sleep(100)',
  ],
  ['waits for a daemon', 'import os, time\nprint("x", flush=True)\nif os.fork() == 0: os.setsid()\ntime.sleep(100)'],
  ['prints without end', 'print("x", flush=True)\nimport sys\nwhile True: sys.stderr.write("é" * 1000)'],
];

const THREADS = 'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(100,)).start()';
const FORKS = 'import os\nwhile True:\n  try: os.fork()\n  except OSError: pass';

/** A program that leaves what it can in the folder of all and stays, one that runs meanwhile, and what that one prints. */
const NEIGHBOURS: readonly (readonly [string, string, string, string])[] = [
  [
    'javascript',
    `const fs = require('fs');
const dare = (work) => { try { work(); } catch {} };
dare(() => fs.mkdirSync('/tmp/node_modules'));
dare(() => fs.renameSync('/tmp/node_modules', '/tmp/other'));
dare(() => fs.rmdirSync('/tmp/package.json'));
dare(() => fs.mkdirSync('/tmp/node_modules/left-pad'));
dare(() => fs.writeFileSync('/tmp/node_modules/left-pad/index.js', 'console.log(666)'));
dare(() => fs.writeFileSync('/tmp/mine.json', '{"type":"module","imports":{"#a":"/tmp/a.js"}}', { mode: 0o644 }));
dare(() => fs.renameSync('/tmp/mine.json', '/tmp/package.json'));
fs.writeFileSync('/tmp/planted', '');
console.log('planted');
setInterval(() => fs.existsSync('/tmp/done') && process.exit(), 10);`,
    `console.log(typeof require);
try { require('left-pad'); } catch (error) { console.log(error.code); }
import('left-pad').catch((error) => console.log(error.code));`,
    'function\nMODULE_NOT_FOUND\nERR_MODULE_NOT_FOUND\n',
  ],
  [
    'python',
    `import os, time
for n in ("json", "random", "sitecustomize", "usercustomize", "site", "encodings"):
  with open(f"/tmp/{n}.py", "w") as f: f.write("print(666)")
  os.chmod(f"/tmp/{n}.py", 0o644)
for n in ("pyvenv.cfg", "python311._pth"):
  with open(f"/tmp/{n}", "w") as f: f.write("home = /tmp")
os.mkdir("/tmp/__pycache__")
os.chmod("/tmp/__pycache__", 0o777)
open("/tmp/planted", "w").close()
print("planted")
while not os.path.exists("/tmp/done"): time.sleep(0.01)`,
    'import json, random, site, sys\nprint(json.dumps([1]), "/tmp" in sys.path, any("/tmp" in p for p in sys.path))',
    '[1] False False\n',
  ],
  [
    'ruby',
    `File.umask(0o022)
%w[json.rb set.rb .rubyopt .irbrc Gemfile rubygems.rb planted].each { |n| File.write("/tmp/#{n}", "puts 666") }
puts 'planted'
sleep 0.01 until File.exist?('/tmp/done')`,
    `require 'set'; require 'json'\nputs [1].to_json, $LOAD_PATH.any? { |each| each.start_with?('/tmp') }`,
    '[1]\nfalse\n',
  ],
];

describe.skipIf(whyNoLanguages !== '')(`hostile programs of a forked interpreter ${whyNoLanguages}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest({ config: PYTHON_AND_RUBY });
  });
  afterAll(async () => {
    expect(await served.end()).toBe(0);
  });

  const run = (code: string, language = 'python'): Promise<Ran> => runProgram(served, language, code);
  /** The same container still works, and nothing of the program is there. */
  const expectAsBefore = async (container: unknown): Promise<void> => {
    const canary = await run(`import json, os, random
used = [(s.f_blocks - s.f_bfree) * s.f_frsize < 10**5 for s in map(os.statvfs, ("/tmp", "/dev/shm"))]
print(sorted(os.listdir("/dev/shm")), len(os.listdir("/tmp")), os.listdir("/tmp/node_modules"), used, json.dumps([1]))`);
    const stdout = '[] 4 [] [True, True] [1]\n';
    expect(canary).toMatchObject({ stdout, stderr: '', exit_code: 0, container_id: container });
    expect(await run('puts 1', 'ruby')).toMatchObject({ stdout: '1\n' });
    // Not the effective user: the agent becomes the program's user for the files that it makes.
    const top = ['top', String(container), '-eo', 'ruid,pid,stat,args'];
    const left = execFileSync('docker', top, { encoding: 'utf8' }).split('\n');
    // One that has ended is listed until its parent has asked for its end.
    expect(left.filter((line) => /^ *20\d{8} +\d+ +[^Z]/.test(line))).toEqual([]);
  };

  it.each(PROGRAMS)('are of no consequence: one that %s', async (_, code, expected) => {
    const { container_id: container } = await run('');
    expect(await run(code)).toMatchObject(expected);
    await expectAsBefore(container);
  });

  it('are of no consequence: those that hide what they leave with each other', async () => {
    const { container_id: container } = await run('');
    const host = run(`import os, time
os.mkdir("/tmp/shared"); os.chmod("/tmp/shared", 0o777)
with open("/tmp/shared/big", "wb", 0) as f: f.write(b"x" * 4 * 10**6)
os.chmod("/tmp/shared/big", 0o666)
open("/tmp/shared/ready", "w").close()
while not os.path.exists("/tmp/shared/done"): time.sleep(0.01)`);
    const guest = run(`import os, time
while not os.path.exists("/tmp/shared/ready"): time.sleep(0.01)
os.mkdir("/tmp/kept"); os.link("/tmp/shared/big", "/tmp/kept/big")
os.mkdir("/tmp/shared/guest"); open("/tmp/shared/guest/mine", "w").close(); os.chmod("/tmp/shared/guest", 0)
open("/tmp/shared/done", "w").close()
while os.path.exists("/tmp/shared"): time.sleep(0.01)
os.rename("/tmp/kept/big", "/tmp/big")
print("kept")`);
    expect(await host).toMatchObject({ exit_code: 0 });
    expect(await guest).toMatchObject({ stdout: 'kept\n', exit_code: 0 });
    await expectAsBefore(container);
  });

  it('are of no consequence: those whose output another one keeps open', async () => {
    const { container_id: container } = await run('');
    const keeper = run(`import socket
door = socket.socket(socket.AF_UNIX)
door.bind("\\0keeper")
door.listen(50)
kept = [socket.recv_fds(door.accept()[0], 1, 1) for _ in range(40)]
print(len(kept))`);
    const given = `import socket, time
door = socket.socket(socket.AF_UNIX)
while door.connect_ex("\\0keeper") != 0: time.sleep(0.01)
socket.send_fds(door, [b"x"], [1])
print("given")`;
    const all = await Promise.all(Array.from({ length: 40 }, () => run(given)));
    for (const each of all) expect(each).toMatchObject({ stdout: 'given\n', exit_code: 0 });
    expect(await keeper).toMatchObject({ stdout: '40\n' });
    await expectAsBefore(container);
  });

  it.each(NEIGHBOURS)('shadow nothing of the programs beside them: %s', async (language, plant, look, expected) => {
    const container = String((await run('', language))['container_id']);
    const inside = (command: string): string =>
      execFileSync('docker', ['exec', '--user', '0', container, 'sh', '-c', command], { encoding: 'utf8' });
    const planter = run(plant, language);
    await waitUntil('it is planted', () => inside('ls /tmp').includes('planted'));
    const neighbour = await run(look, language);
    inside('touch /tmp/done');
    expect(await planter).toMatchObject({ stdout: 'planted\n', exit_code: 0 });
    inside('rm /tmp/done');
    expect(neighbour).toMatchObject({ stdout: expected, stderr: '', exit_code: 0 });
  });

  it('cannot tell the name of a home before it is there', async () => {
    const ran = await run('import os; print(os.environ["HOME"])');
    const [id] = /[0-9a-f-]{36}/.exec(ran['file_path']) ?? [];
    expect(ran['stdout']).toMatch(/^\/tmp\/home_[0-9a-f-]{36}\n$/);
    expect(ran['stdout']).not.toContain(id);
  });

  it('are ended after their time, several at once', async () => {
    const { container_id: container } = await run('');
    const ran = await Promise.all(ENDLESS.map(([, code]) => run(code)));
    for (const each of ran) {
      expect(each).toMatchObject({ stdout: 'x\n', exit_code: 124 });
      expect(each['stderr']).toMatch(/Execution timed out after 10 s\n$/);
    }
    await expectAsBefore(container);
  });

  it.each([
    ['threads', THREADS],
    ['processes', FORKS],
  ])('are of no consequence: one that starts %s without end', async (_, code) => {
    const { container_id: container } = await run('');
    const bomb = run(code);
    await sleep(1000);
    for (const number of [1, 2, 3]) expect(await run(`print(${number})`)).toMatchObject({ stdout: `${number}\n` });
    const ran = await bomb;
    expect([1, 124]).toContain(ran['exit_code']);
    expect(ran['memory_used_mb']).toBeLessThanOrEqual(256);
    await expectAsBefore(container);
  });
});
