import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openEgressDoor } from '../egress/door/index.ts';
import {
  createFrameReader,
  EGRESS_SOCKET,
  encodeJson,
  FRAME,
  SANDBOX,
  SANDBOX_MARK,
  SHARED_MARK,
} from '../protocol/index.ts';
import type { DoorWish, FileCall, ForkServerWish, Frame, SandboxEnd, StartWish } from '../protocol/index.ts';
import { isAloneAsRoot } from '../supervise/index.ts';
import { createAhead } from './ahead.ts';
import { leaveGroups } from './as-user.ts';
import { startExecution } from './execution.ts';
import type { Execution } from './execution.ts';
import { createFiles } from './files.ts';
import { createForkServer } from './fork-server.ts';
import type { ForkServer } from './fork-server.ts';
import { launch } from './launch.ts';
import type { Launch, Program } from './launch.ts';
import { createPipePool } from './pipes.ts';
import type { OutputPipes, PipePool } from './pipes.ts';
import { createPlacesAhead } from './place-ahead.ts';
import { createReserve } from './reserve.ts';
import type { Reserve } from './reserve.ts';

const STUCK = 70;
/**
 * Where Node looks for what belongs to a program, also in the folders above it: in the folder of all, a neighbour could put
 * that there. As a folder, "package.json" counts as missing.
 */
const TAKEN = ['node_modules', 'package.json'].map((name) => path.posix.join(SANDBOX.tmp, name));

/** Until the next frame, or the end of this turn. */
const held: Buffer[] = [];
const send = (...frames: readonly Buffer[]): void => {
  process.stdout.cork();
  for (const each of [...held.splice(0), ...frames]) process.stdout.write(each);
  process.stdout.uncork();
};
/** A program's file is answered together with its begin: each message wakes the engine and the host. */
const sendSoon = (frame: Buffer): void => {
  held.push(frame);
  process.nextTick(send);
};

/**
 * Runs programs in a sandbox for a host that it knows by its stdin and stdout alone. It is root with the rights to be other
 * users and to signal them, and with no other right: no program that it starts can signal it, trace it or write to it.
 */
async function main(): Promise<void> {
  // Elsewhere it would kill every process of the machine.
  if (!isAloneAsRoot(process.env[SANDBOX_MARK] !== undefined)) throw new Error('this program runs only in a sandbox');
  leaveGroups();
  // Without a host there is no work. The container ends with this process, and all that runs in it.
  for (const event of ['end', 'error']) process.stdin.once(event, () => process.exit(0));
  const isShared = process.env[SANDBOX_MARK] === SHARED_MARK;
  if (isShared) for (const folder of TAKEN) mkdirSync(folder, { mode: 0o755 });
  const reserve = isShared ? createReserve(TAKEN.at(-1) ?? SANDBOX.tmp) : null;
  const pipes = await createPipePool(path.posix.join(SANDBOX.own, 'pipes'));
  const files = createFiles(reserve);
  const servers = createServers(reserve);
  const executions = createExecutions(pipes, servers.launch, reserve);
  const call = (id: number, wish: FileCall): void => {
    executions.expect(wish.uid);
    sendSoon(encodeJson(FRAME.answer, id, executions.fill(wish) ?? files(wish)));
  };
  const take = ({ kind, id, payload }: Frame): void => {
    if (kind === FRAME.start) executions.start(id, JSON.parse(payload.toString()) as StartWish);
    else if (kind === FRAME.prepare) void servers.prepare(id, JSON.parse(payload.toString()) as ForkServerWish);
    else if (kind === FRAME.kill) executions.get(id)?.kill();
    else if (kind === FRAME.credit) executions.get(id)?.credit(payload.readUInt32BE(0));
    else if (kind === FRAME.door) void openDoor(id, JSON.parse(payload.toString()) as DoorWish);
    else if (kind === FRAME.call) call(id, JSON.parse(payload.toString()) as FileCall);
  };
  process.stdin.on('data', createFrameReader(take));
  send(encodeJson(FRAME.ready, 0, {}));
}

/** Those that are under way, by their numbers. */
function createExecutions(pipes: PipePool, start: Launch, reserve: Reserve | null) {
  const running = new Map<number, Execution>();
  const present = new Set<number>();
  const next = createNext(pipes, present);
  let isLeft = false;
  const outlet = {
    send,
    onStuck: () => process.exit(STUCK),
    isAlone: () => running.size < 2,
    present,
    giveBack: (uid: number): void => reserve?.giveBack(uid),
    onLeft: () => void (isLeft = true),
  };
  return {
    fill: next.fill,
    get: (id: number): Execution | undefined => running.get(id),
    /** There will be something of this user. */
    expect: (uid: number): void => void present.add(uid),
    start: (id: number, wish: StartWish): void => {
      const waiting = next.take(wish);
      const pair = waiting?.pipes ?? pipes.take();
      if (pair === undefined) {
        present.delete(wish.uid);
        reserve?.giveBack(wish.uid);
        return send(encodeJson(FRAME.end, id, notStarted('too many executions are under way')));
      }
      present.add(wish.uid);
      next.expect(wish);
      const execution = startExecution(id, wish, pair, { ...outlet, launch: waiting?.launch ?? start });
      running.set(id, execution);
      void execution.done.then(() => {
        running.delete(id);
        if (running.size > 0) return;
        // Another container begins with empty folders.
        if (isLeft) process.exit(STUCK);
        next.make();
      });
    },
  };
}

/** What is made ahead for the next program, while none runs. */
function createNext(pipes: PipePool, present: Set<number>) {
  const [processes, places] = [createAhead(pipes), createPlacesAhead(present)];
  /** What the host said last: nothing of it has come yet while no program runs. */
  let likely: Pick<StartWish, 'ahead' | 'placeAhead'> = {};
  return {
    take: processes.take,
    fill: places.fill,
    expect: ({ ahead = null, placeAhead = null }: StartWish): void => void (likely = { ahead, placeAhead }),
    make: (): void => {
      const { ahead, placeAhead } = likely;
      const isThere = placeAhead == null || places.make(placeAhead);
      if (ahead != null) processes.prepare(isThere ? ahead : { ...ahead, waiting: null });
    },
  };
}

/** Programs find the egress proxy at a port of their loopback. What the agent proves itself with is for no program. */
async function openDoor(id: number, { client, ...door }: DoorWish): Promise<void> {
  await openEgressDoor({ ...door, worker: client, socket: EGRESS_SOCKET });
  send(encodeJson(FRAME.answer, id, {}));
}

/** The fork servers, by their interpreters. */
function createServers(reserve: Reserve | null) {
  const plainly: Launch = (wish, pipes) => launch(wish, pipes, reserve);
  const servers = new Map<string, ForkServer>();
  return {
    prepare: async (id: number, wish: ForkServerWish): Promise<void> => {
      const key = JSON.stringify(wish.program);
      const server = servers.get(key) ?? createForkServer(wish, SANDBOX.own, plainly);
      servers.set(key, server);
      send(encodeJson(FRAME.answer, id, { isReady: await server.ready() }));
    },
    launch: (wish: StartWish, pipes: OutputPipes): Program => {
      const server = wish.fork == null ? undefined : servers.get(JSON.stringify(wish.fork.program));
      return server?.start(wish, pipes) ?? plainly(wish, pipes);
    },
  };
}

function notStarted(problem: string): SandboxEnd {
  const none = { code: null, signal: null, cwd: null, durationMs: 0, cpuMs: 0, peakBytes: 0, outOfMemory: false };
  return { ...none, endedBy: 'not-started', problem };
}

await main();
