import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { deletedBytes } from './deleted-files.ts';

const MIB = 1024 ** 2;
const ID = 'a'.repeat(64);

/** A folder like /proc, in which a container has the open files of processes of this machine. */
function machineWith(...pids: readonly number[]): string {
  const proc = tempFolder();
  mkdirSync(path.join(proc, 'sys'));
  for (const pid of pids) place(proc, pid, `4:memory:/docker/${ID}\n0::/\n`, `/proc/${pid}/fd`);
  return proc;
}

function place(proc: string, pid: number, cgroup: string, files: string): void {
  const folder = path.join(proc, String(pid));
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'cgroup'), cgroup);
  symlinkSync(files, path.join(folder, 'fd'));
}

/** A file of 1 MiB that this process has open. */
function openFile(folder = tempFolder()): string {
  const file = path.join(folder, 'large');
  const descriptor = openSync(file, 'wx');
  onTestFinished(() => closeSync(descriptor));
  writeSync(descriptor, Buffer.alloc(MIB, 1));
  return file;
}

const near = async (proc: string): Promise<number> => Math.floor((await deletedBytes(ID, proc)) / MIB);

describe.skipIf(process.platform !== 'linux')('deleted files that a container has open', () => {
  it('count once, however many processes have them open, and not while they have a name', async () => {
    const [deleted, linked] = [openFile(), openFile()];
    const proc = machineWith(process.pid);
    place(proc, 1, `0::/system.slice/docker-${ID}.scope\n`, `/proc/${process.pid}/fd`);
    expect(await near(proc)).toBe(0);
    rmSync(deleted);
    linkSync(linked, `${linked} (deleted)`);
    rmSync(linked);
    expect(await near(proc)).toBe(1);
  });

  it('count when another file has taken their name', async () => {
    const file = openFile();
    writeFileSync(`${file}.new`, '');
    renameSync(`${file}.new`, file);
    expect(await near(machineWith(process.pid))).toBe(1);
  });

  it('do not count when they are in memory, which has a limit of its own', async () => {
    const folder = mkdtempSync('/dev/shm/mahabharatha-test-');
    onTestFinished(() => rmSync(folder, { recursive: true }));
    rmSync(openFile(folder));
    expect(await near(machineWith(process.pid))).toBe(0);
    rmSync(openFile());
    expect(await near(machineWith(process.pid))).toBe(1);
  });

  it('do not count when a process outside has them open', async () => {
    rmSync(openFile());
    const proc = machineWith();
    place(proc, process.pid, `0::/docker/${'b'.repeat(64)}\n`, `/proc/${process.pid}/fd`);
    expect(await deletedBytes(ID, proc)).toBe(0);
  });

  it('count where their folder is so deep that the kernel cannot name them', async () => {
    const script = `for i in {1..30}; do mkdir -p ${'d'.repeat(200)}; cd ${'d'.repeat(200)}; done
      exec 3>large; head -c ${MIB} /dev/zero >&3; rm large; echo; read`;
    const folder = tempFolder();
    const child = spawn('bash', ['-c', script], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
    onTestFinished(() => {
      child.stdin.end();
      // Node cannot remove what has so long a name.
      execFileSync('rm', ['-r', folder]);
    });
    await once(child.stdout, 'data');
    expect(await near(machineWith(child.pid ?? 0))).toBe(1);
  });

  it('are looked for while other work goes on, on a machine of many processes', async () => {
    const proc = machineWith();
    for (let pid = 1; pid <= 700; pid += 1) place(proc, pid, '0::/\n', '/nowhere');
    let turns = 0;
    const count = (): void => void ((turns += 1), (timer = setImmediate(count)));
    let timer = setImmediate(count);
    await deletedBytes(ID, proc);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(9);
  });
});
