import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { startDaemon } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { MARKS } from '../protocol/index.ts';
import type { StartSweeper } from './options.ts';

interface SweeperWishes {
  /** The built program. */
  readonly program: string;
  /** The owner holds it as long as it lives. */
  readonly lock: string;
  /** How long an owner that was killed may be resumed; 0 when it never is. */
  readonly leaseMs: number;
  /** A folder that goes with the owner. */
  readonly folder?: string;
  readonly env: Environment;
}

/** The sweeper outlives this process, so it has no terminal to write to. */
export function sweeperStarter({ program, lock, leaseMs, folder, env }: SweeperWishes): StartSweeper {
  return ({ id }) => {
    const own = folder === undefined ? [] : ['--folder', folder];
    const args = [program, '--owner', id, '--lock', lock, '--lease-ms', String(leaseMs), ...own];
    const marked = { ...toFindTheEngine(env), [MARKS.sweeper]: `${id}.${process.pid}` };
    const output = openSync(devNull, 'a');
    const child = startDaemon(process.execPath, args, { cwd: '/', env: marked, output });
    closeSync(output);
    child.on('error', () => undefined);
    child.unref();
    return { close: () => void child.stdin?.end('done\n') };
  };
}

/** What the sweeper needs of the user's environment. */
function toFindTheEngine(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /^(DOCKER_.*|HOME|PATH|XDG_.*|TMPDIR)$/.test(name)));
}
