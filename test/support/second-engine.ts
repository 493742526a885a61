import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDockerEngine } from '../../src/engines/index.ts';
import { endOf, findByEnvironment, kill, randomId } from '../../src/lib/index.ts';
import { waitUntil } from './wait-until.ts';

/** An engine of the test's own, which may be killed; the machine's engine is not touched. */
export interface SecondEngine {
  /** For DOCKER_HOST. */
  readonly host: string;
  start(): Promise<void>;
  /** Resolves when the daemon has ended; after SIGKILL its containers go on. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  docker(...args: string[]): string;
  remove(): Promise<void>;
}

const MARK = 'MAHABHARATHA_TEST_ENGINE';

/** Why tests are skipped, for their names; empty when they run. */
export function whyNoSecondEngine(): string {
  if (process.getuid?.() !== 0) return 'a second dockerd needs root';
  try {
    for (const program of ['dockerd', 'unshare']) execFileSync('which', [program], { stdio: 'ignore' });
    return '';
  } catch {
    return 'no dockerd or no unshare on the PATH';
  }
}

/** In a network namespace of its own: a daemon without a bridge removes the one that it finds, which would be the machine's. */
export function createSecondEngine(): SecondEngine {
  const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-engine-'));
  const [socket, mark] = [path.join(folder, 'engine.sock'), randomId()];
  const host = `unix://${socket}`;
  // An empty file, in place of the settings of the machine's engine.
  writeFileSync(path.join(folder, 'settings.json'), '{}');
  const engine = createDockerEngine({ kind: 'socket', path: socket });
  const log = openSync(path.join(folder, 'log'), 'a');
  let daemon: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const start = async (): Promise<void> => {
    const child = spawn('unshare', ['--net', 'dockerd', ...argumentsIn(folder, host)], {
      env: { ...process.env, [MARK]: mark },
      stdio: ['ignore', log, log],
    });
    daemon = child;
    ended = endOf(child, 'unshare');
    await waitUntil('the second engine answers', async () => {
      if (child.exitCode !== null) throw new Error(readFileSync(path.join(folder, 'log'), 'utf8').slice(-2000));
      return engine.info().then(
        () => true,
        () => false,
      );
    });
  };
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    daemon?.kill(signal);
    await ended;
    if (signal === 'SIGKILL') endLowerHalf(folder);
  };
  return {
    host,
    start,
    end,
    docker: (...args) => execFileSync('docker', ['--host', host, ...args], { encoding: 'utf8' }),
    remove: async () => {
      await end('SIGTERM');
      // Some of them end by themselves just then.
      for (const pid of await findByEnvironment(MARK, mark)) kill(pid, 'SIGKILL');
      unmountBelow(folder);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function argumentsIn(folder: string, host: string): string[] {
  const places = { 'data-root': 'data', 'exec-root': 'exec', pidfile: 'pid', 'config-file': 'settings.json' };
  const own = Object.entries(places).map(([name, file]) => `--${name}=${path.join(folder, file)}`);
  return [...own, '--host', host, '--bridge=none', '--iptables=false', '--ip-masq=false'];
}

/** containerd ends with its daemon, but counts as alive while it is a zombie. */
function endLowerHalf(folder: string): void {
  const file = path.join(folder, 'exec', 'containerd', 'containerd.pid');
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
  } catch {
    // It has ended already.
  }
  rmSync(file, { force: true });
}

/** Unmounts what a killed daemon has left mounted. */
function unmountBelow(folder: string): void {
  const points = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => point.startsWith(`${folder}/`));
  for (const point of points.toReversed()) execFileSync('umount', ['--lazy', point], { stdio: 'ignore' });
}

/** Copies images from the machine's engine. */
export async function copyImages(tags: readonly string[], to: SecondEngine): Promise<void> {
  const save = spawn('docker', ['save', ...tags], { stdio: ['ignore', 'pipe', 'ignore'] });
  const load = spawn('docker', ['--host', to.host, 'load', '--quiet'], { stdio: [save.stdout, 'ignore', 'ignore'] });
  const [{ code: saved }, { code: loaded }] = await Promise.all([endOf(save, 'docker'), endOf(load, 'docker')]);
  if (saved !== 0 || loaded !== 0) throw new Error(`${tags.join(', ')} could not be copied: ${saved}, ${loaded}`);
}
