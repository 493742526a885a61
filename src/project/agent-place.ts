import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Engine, Mount } from '../engines/index.ts';
import { INSIDE } from '../protocol/index.ts';
import { findProgram, hasCode, libErrors, randomId, run } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { findWorkerUsers } from './worker-users.ts';
import { trialLabels } from './try-overlays.ts';

/** Programs print their version in a second or two; one that does not is not waited for any longer. */
const LOOK_MS = 20_000;
const GIB = 1024 ** 3;

/** What is known of a program. */
export interface Sight {
  readonly found: boolean;
  /** What it prints for --version; empty when it was not asked, or gave no answer. */
  readonly printed: string;
}

/** Where the agents of a run are started. */
export interface AgentPlace {
  readonly kind: 'machine' | 'image';
  /** Looks for a program, and asks it for its version when that is wanted. */
  look(program: string, wanted: 'presence' | 'version'): Promise<Sight>;
}

/** Whether it is a file of the repository, and so of each worktree. */
export const isOfRepository = (program: string): boolean => program.includes('/') && !path.isAbsolute(program);

async function lookInRepository(root: string, program: string): Promise<Sight> {
  return { found: (await findProgram(path.join(root, program), {})) !== undefined, printed: '' };
}

/** The PATH of this machine, and the repository at `root`. */
export function machinePlace(env: Environment, root: string): AgentPlace {
  return {
    kind: 'machine',
    look: async (program, wanted) => {
      if (isOfRepository(program)) return lookInRepository(root, program);
      const file = await findProgram(program, env);
      if (file === undefined) return { found: false, printed: '' };
      return { found: true, printed: wanted === 'version' ? await versionText(file, env) : '' };
    },
  };
}

async function versionText(file: string, env: Environment): Promise<string> {
  try {
    const { code, stdout } = await run(file, ['--version'], { cwd: '/', env, input: '', timeoutMs: LOOK_MS });
    return code === 0 ? stdout : '';
  } catch (error) {
    if (hasCode(error, libErrors.PROCESS_NOT_STARTED)) return '';
    throw error;
  }
}

interface Image {
  readonly engine: Engine;
  /** Its tag or id. */
  readonly image: string;
  /** An OCI runtime other than the engine's own. */
  readonly runtime: string | null;
  /** The repository. */
  readonly root: string;
  /** Further folders of the user: a program may be there. */
  readonly mounts: readonly Mount[];
}

/** Ends with 127 where there is no such program, as a shell does. */
const LOOK =
  'command -v "$1" > /dev/null 2>&1 || exit 127; [ "$2" = version ] || exit 0; "$1" --version < /dev/null; exit 0';

/** An image, in which a container without network looks. What it prints is not trusted: only a version is read in it. */
export function imagePlace({ engine, image, runtime, root, mounts }: Image): AgentPlace {
  return {
    kind: 'image',
    look: async (program, wanted) => {
      if (isOfRepository(program)) return lookInRepository(root, program);
      const id = await engine.createContainer({
        name: `mahabharatha-look-${randomId()}`,
        image,
        command: ['/bin/sh', '-c', LOOK, 'look', program, wanted],
        env: { HOME: INSIDE.home },
        ...(await findWorkerUsers()),
        workdir: '/',
        labels: trialLabels(root, { runId: `look-${randomId()}`, feature: 'look' }),
        mounts,
        network: 'none',
        memoryBytes: GIB,
        cpus: 1,
        pids: 128,
        fileBytes: GIB,
        stdin: false,
        runtime,
        logBytes: null,
      });
      try {
        return await lookIn(engine, id);
      } finally {
        await engine.removeContainer(id);
      }
    },
  };
}

async function lookIn(engine: Engine, id: string): Promise<Sight> {
  const { stdout, stderr, close } = await engine.attach(id);
  stderr.destroy();
  const printed = text(stdout).catch(() => '');
  try {
    await engine.startContainer(id);
    const { code } = await engine.waitContainer(id, AbortSignal.timeout(LOOK_MS));
    return { found: code !== 127, printed: await printed };
  } catch (error) {
    // It is there, and hangs.
    if (error instanceof Error && error.name === 'TimeoutError') return { found: true, printed: '' };
    throw error;
  } finally {
    close();
  }
}
