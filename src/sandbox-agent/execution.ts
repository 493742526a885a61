import { readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sleep, startTimer } from '../lib/index.ts';
import { encodeFrame, encodeJson, FRAME } from '../protocol/index.ts';
import type { SandboxEnd, StartWish } from '../protocol/index.ts';
import { asUser, endAll, signalAll, terminateAgain } from './as-user.ts';
import { clearingOf } from './clear-folders.ts';
import type { Launch, Program } from './launch.ts';
import type { OutputPipes } from './pipes.ts';
import { measureUser } from './usage.ts';

const ROOT = 0;
/** Of one frame. */
const CHUNK_BYTES = 64 * 1024;
/** How long a pipe that another process still has may be silent before its rest is given up. */
const SILENT_MS = 200;
/** After a standstill of this process its timers come before what has been written meanwhile: so there is a look between them. */
const SILENT_ROUNDS = 2;
/** Between two signals to what is to end. */
const AGAIN_MS = 100;
/** A working directory is read from its pipe up to this length. */
const LONGEST_PATH = 4096;

export interface Execution {
  credit(bytes: number): void;
  kill(): void;
  /** Resolves when it and all that it started have ended, and all its output is sent. */
  readonly done: Promise<void>;
}

type Send = (frame: Buffer) => void;

interface Outlet {
  readonly send: Send;
  /** Processes of the user could not be killed. */
  readonly onStuck: () => void;
  readonly launch: Launch;
  /** Whether no other execution is under way. */
  readonly isAlone: () => boolean;
  /** The users that have a program, or will have one. */
  readonly present: Set<number>;
  /** What this user has had in the reserve is free again. */
  readonly giveBack: (uid: number) => void;
  /** Something that a program has left in the folders of all could not be removed. */
  readonly onLeft: () => void;
}

/** Runs a program as its user. Everything of that user ends with it. */
export function startExecution(
  id: number,
  wish: StartWish,
  pipes: OutputPipes,
  { send, onStuck, launch, isAlone, present, giveBack, onLeft }: Outlet,
): Execution {
  const started = performance.now();
  const flow = createFlow(id, wish.credit, pipes, send);
  // Before: a program that might have been started is not started again.
  send(encodeFrame(FRAME.begun, id, Buffer.alloc(0)));
  const child = launch(wish, pipes);
  const usage = measureUser(wish.uid, isAlone);
  const folder = watchFolder(child, wish.uid);
  const limits = watchLimits(wish, usage.look);
  const run = async (): Promise<void> => {
    const { used: known, note = '', ...left } = await child.ended;
    const stopped = limits.close();
    const isClean = await endAll(wish.uid);
    const durationMs = performance.now() - started;
    const used = usage.end(known);
    pipes.release(await flow.drained());
    if (note !== '') send(encodeFrame(FRAME.stderr, id, Buffer.from(note)));
    const cwd = await folder.end();
    present.delete(wish.uid);
    giveBack(wish.uid);
    const endedBy = left.problem === null ? (stopped ?? 'itself') : 'not-started';
    const end: SandboxEnd = { ...left, endedBy, cwd, durationMs, ...used };
    const { isShort, clear } = clearingOf(wish.clears, (uid) => uid !== ROOT && !present.has(uid));
    const isClear = isShort ? null : await clear();
    send(encodeJson(FRAME.end, id, end));
    // Processes that cannot be killed would be the next program's neighbours.
    if (!isClean) onStuck();
    // The host answers meanwhile. Nothing else happens in this process before it is done, so that no program begins.
    if (!(isClear ?? (await clear()))) onLeft();
  };
  return { credit: flow.credit, kill: () => limits.stop('killed'), done: run() };
}

type Stop = 'timeout' | 'killed';

/** Ends the user's programs at the time-out, and when they are to be killed: with SIGTERM, and with SIGKILL after the grace. */
function watchLimits({ uid, timeoutMs, graceMs }: StartWish, beforeStop: () => void) {
  let stopped: Stop | undefined;
  let isOver = false;
  let force: ReturnType<typeof startTimer> | undefined;
  let again: ReturnType<typeof startTimer> | undefined;
  const terminateAfter = (pauseMs: number): void => {
    again = startTimer(pauseMs, () => {
      terminateAgain(uid);
      terminateAfter(2 * pauseMs);
    });
  };
  const stop = (why: Stop): void => {
    if (stopped !== undefined || isOver) return;
    stopped = why;
    beforeStop();
    signalAll(uid, 'SIGTERM');
    terminateAfter(AGAIN_MS);
    // Again and again: a process that has just been forked may not be its user's yet.
    const end = (): void => {
      signalAll(uid, 'SIGKILL');
      force = startTimer(AGAIN_MS, end);
    };
    force = startTimer(graceMs, end);
  };
  const limit = timeoutMs === null ? undefined : startTimer(timeoutMs, () => stop('timeout'));
  return {
    stop,
    /** The program has ended: no signal may reach the next one of its user. Returns why it was stopped. */
    close: (): Stop | undefined => {
      isOver = true;
      limit?.cancel();
      force?.cancel();
      again?.cancel();
      return stopped;
    },
  };
}

/** Sends output as far as the host takes it. */
function createFlow(id: number, first: number, { stdout, stderr }: OutputPipes, send: Send) {
  let credit = first;
  let heardAt = performance.now();
  const streams = [stdout, stderr];
  const take = (kind: typeof FRAME.stdout | typeof FRAME.stderr, stream: Socket): Promise<true> => {
    stream.on('data', (bytes: Buffer) => {
      heardAt = performance.now();
      credit -= bytes.length;
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
        send(encodeFrame(kind, id, bytes.subarray(at, at + CHUNK_BYTES)));
      if (credit <= 0) streams.forEach((each) => each.pause());
    });
    stream.on('error', () => undefined);
    return new Promise((resolve) => stream.once('end', () => resolve(true)));
  };
  const ends = Promise.all([take(FRAME.stdout, stdout), take(FRAME.stderr, stderr)]);
  return {
    credit: (bytes: number): void => {
      const before = credit;
      credit += bytes;
      if (before <= 0 && credit > 0) streams.forEach((stream) => stream.resume());
    },
    /** True when the pipes are at their end; false when another process still has them. */
    drained: async (): Promise<boolean> => {
      const ended = ends.then(() => true);
      for (let silent = 0; silent < SILENT_ROUNDS; silent += 1) {
        if (await Promise.race([ended, sleep(SILENT_MS).then(() => false)])) return true;
        await nextTurn();
        if (credit <= 0 || performance.now() - heardAt < SILENT_MS) silent = -1;
      }
      return false;
    },
  };
}

/** The program's working directory: as its shell reports it at its end, or else as it was last seen. */
function watchFolder(child: Program, uid: number): { end(): Promise<string | null> } {
  const { reports } = child;
  if (reports === null) return { end: async () => null };
  let report = '';
  let seen: string | null = null;
  reports.on('data', (bytes: Buffer) => (report = (report + bytes.toString('utf8')).slice(-LONGEST_PATH)));
  reports.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => reports.once('close', () => resolve()));
  const look = (): void => {
    seen = folderOf(child.pid, uid) ?? seen;
  };
  const timer = setInterval(look, 50);
  return {
    end: async () => {
      clearInterval(timer);
      for (let round = 0; round < SILENT_ROUNDS; round += 1) {
        await Promise.race([closed, sleep(SILENT_MS)]);
        await nextTurn();
      }
      reports.destroy();
      const [said = ''] = /\/[^\0]*(?=\n\0$)/.exec(report) ?? [];
      return said === '' ? seen : said;
    },
  };
}

function folderOf(pid: number | undefined, uid: number): string | undefined {
  try {
    return asUser(uid, () => readlinkSync(`/proc/${pid}/cwd`));
  } catch {
    return undefined;
  }
}
