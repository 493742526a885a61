import { killGroup, sleep, within } from '../../lib/index.ts';
import type { Attachment, ContainerExit } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { createStreams } from './attachment.ts';
import type { Streams } from './attachment.ts';
import type { Cli } from './cli.ts';
import { inspectContainer } from './inspect.ts';
import { removeContainer } from './removal.ts';
import { begin, exitAfter, started } from './talk.ts';

/** More than ever live at once; the exits of older ones are not asked for any more. */
const REMEMBERED = 1000;
const GONE_LOOK_MS = 500;
const NOTHING_KNOWN: ContainerExit = { code: null, oomKilled: false };

/** Containers that this process has created, attached to and started. */
export interface Runs {
  created(id: string, stdin: boolean): void;
  attach(id: string): Promise<Attachment>;
  start(id: string): Promise<void>;
  exitOf(id: string, signal: AbortSignal | undefined): Promise<ContainerExit>;
}

interface Known {
  readonly withoutStdin: Set<string>;
  readonly streams: Map<string, Streams>;
  readonly exits: Map<string, Promise<ContainerExit>>;
}

export function createRuns(cli: Cli): Runs {
  const known: Known = { withoutStdin: new Set(), streams: new Map(), exits: new Map() };
  const { withoutStdin, streams, exits } = known;
  return {
    created: (id, stdin) => {
      exits.delete(id);
      streams.delete(id);
      if (stdin) withoutStdin.delete(id);
      else withoutStdin.add(id);
    },
    attach: async (id) => {
      await expectCreated(cli, id, `attach to container ${id}`);
      const made = createStreams();
      streams.set(id, made);
      return made.attachment;
    },
    start: (id) => start(cli, known, id),
    exitOf: async (id, signal) => {
      const exit = exits.get(id) ?? untilGone(cli, id, signal).then(() => exits.get(id) ?? NOTHING_KNOWN);
      const ended = await within(Infinity, exit, signal);
      if (ended === undefined) throw signal?.reason as Error;
      return ended;
    },
  };
}

async function start(cli: Cli, { withoutStdin, streams, exits }: Known, id: string): Promise<void> {
  const what = `start container ${id}`;
  await expectCreated(cli, id, what);
  const attached = streams.get(id);
  streams.delete(id);
  const talk = begin(cli, id, attached, attached !== undefined && !withoutStdin.delete(id));
  remember(exits, id, exitAfter(cli, id, talk));
  await started(cli, { id, what, talk }).catch(async (error: unknown) => {
    remember(exits, id, Promise.resolve(NOTHING_KNOWN));
    killGroup(talk.child.pid, 'SIGKILL');
    await removeContainer(cli, id).catch(() => undefined);
    throw error;
  });
}

function remember(exits: Known['exits'], id: string, exit: Promise<ContainerExit>): void {
  exits.delete(id);
  exits.set(id, exit);
  exit.catch(() => exits.get(id) === exit && exits.delete(id));
  const [oldest] = exits.keys();
  if (exits.size > REMEMBERED && oldest !== undefined) exits.delete(oldest);
}

/** The program attaches only while it starts a container. */
async function expectCreated(cli: Cli, id: string, what: string): Promise<void> {
  const found = await inspectContainer(cli, id);
  if (found?.status === 'created') return;
  const reason = found === undefined ? `there is no container ${id}` : `container ${id} has been started already`;
  throw engineErrors.ENGINE_FAILED({ call: what, reason });
}

async function untilGone(cli: Cli, id: string, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    if (signal?.aborted === true || (await inspectContainer(cli, id)) === undefined) return;
    await sleep(GONE_LOOK_MS, signal);
  }
}
