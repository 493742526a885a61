import { mkdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import path from 'node:path';
import { createLineSplitter, startTimer } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { ForkServerWish, StartWish } from '../protocol/index.ts';
import { startInterpreter } from './launch.ts';
import type { Interpreter, Launch, Program, ProgramEnd } from './launch.ts';
import type { OutputPipes } from './pipes.ts';

/** For its modules to be loaded, and for one fork. */
const READY_MS = 30_000;
const FORK_MS = 5000;
/** For the programs of a server that was too slow, which others have left. */
const RETIRED_MS = 20_000;
/** A server that ends so often before it is ready is not started again. */
const TRIES = 3;
/** A file that takes the place of the program's, in the interpreter's command line. */
const DRAFT = 'x';

export interface ForkServer {
  /** Resolves with whether it is there. One that has ended is started again. */
  ready(): Promise<boolean>;
  /** Undefined when it is not there now: the program is to be started in another way. */
  start(wish: StartWish, pipes: OutputPipes): Program | undefined;
}

/** Of all servers, which share a folder for their requests. */
let last = 0;

interface Waiting {
  /** `before`: what its process had used before it was the program's, in ms. */
  readonly begun: (pid: number, before: number) => void;
  readonly end: (end: ProgramEnd) => void;
}

/**
 * An interpreter that forks for each program: what it says is believed, because no program can reach it. Programs for which it
 * is too slow are started by `launch`.
 */
export function createForkServer(wish: ForkServerWish, folder: string, launch: Launch): ForkServer {
  const requests = path.posix.join(folder, 'requests');
  mkdirSync(requests, { recursive: true, mode: 0o700 });
  const draft = draftFor(wish, requests);
  const begin = (): Life => startLife(wish, draft, launch);
  let life = begin();
  let failures = 0;
  const current = (): Life => {
    if ((!life.isOver() && !life.isRetired()) || failures >= TRIES) return life;
    failures = life.isReady() ? 0 : failures + 1;
    life = begin();
    return life;
  };
  return {
    ready: () => current().ready,
    start: (started, pipes) => {
      const { isReady, isOver, send } = current();
      if (!isReady() || isOver() || !fits(wish, started, draft)) return undefined;
      last += 1;
      const place = path.posix.join(requests, String(last));
      return isWritten(place, requestOf(started)) ? send(last, { place, wish: started, pipes }) : undefined;
    },
  };
}

/** False when there is no room: many large ones are there already. */
function isWritten(place: string, request: string): boolean {
  try {
    writeFileSync(place, request, { mode: 0o600, flag: 'wx' });
    return true;
  } catch {
    rmSync(place, { force: true });
    return false;
  }
}

type Life = ReturnType<typeof startLife>;

/** From the start of the interpreter to its end. */
function startLife({ program, kind, env }: ForkServerWish, draft: string, launch: Launch) {
  const own = `${SANDBOX.runtime}/fork-server.${kind}`;
  const args = kind === 'rb' ? [`-r${own}`, draft] : [own];
  const child = startInterpreter([...program, ...args], env);
  const control = child.stdio[3] as Socket;
  const waiting = new Map<number, Waiting>();
  let isReady = false;
  let isOver = false;
  let retired: ReturnType<typeof startTimer> | undefined;
  const onLeft = (): void => void (retired !== undefined && waiting.size === 0 && child.kill('SIGKILL'));
  const retire = (): void => {
    retired ??= startTimer(RETIRED_MS, () => child.kill('SIGKILL'));
    onLeft();
  };
  const ready = readiness(child, control, (line) => {
    if (line === 'ready') isReady = true;
    else take(waiting, line);
  });
  control.on('error', () => undefined);
  const over = (): void => {
    isOver = true;
    retired?.cancel();
    for (const each of waiting.values()) each.end(LOST);
  };
  child.once('exit', over);
  child.once('error', over);
  return {
    ready,
    isReady: () => isReady,
    isOver: () => isOver,
    /** It was too slow: what runs in it goes on, and nothing else comes to it. */
    isRetired: () => retired !== undefined,
    send: (id: number, sent: Sent): Program => {
      control.write(`${id} ${sent.place} ${sent.pipes.files.join(' ')}\n`);
      return programOf(id, sent, { waiting, onLeft, retire, launch });
    },
  };
}

/** The interpreter is gone: its program has no one left who could say how it ends. */
const NOTE = 'The interpreter that had started this program has ended, and the program with it.\n';
const LOST: ProgramEnd = { code: null, signal: 'SIGKILL', problem: null, used: null, note: NOTE };

function readiness(child: Interpreter, control: Socket, onLine: (line: string) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const limit = startTimer(READY_MS, () => child.kill('SIGKILL'));
    const settle = (is: boolean): void => {
      limit.cancel();
      resolve(is);
    };
    const split = createLineSplitter((line) => {
      onLine(line);
      settle(true);
    });
    control.on('data', (chunk: Buffer) => split.push(chunk.toString()));
    child.once('exit', () => settle(false));
    child.once('error', () => settle(false));
  });
}

interface Sent {
  readonly place: string;
  readonly wish: StartWish;
  readonly pipes: OutputPipes;
}

interface Server {
  readonly waiting: Map<number, Waiting>;
  /** One has left those that wait. */
  readonly onLeft: () => void;
  readonly retire: () => void;
  readonly launch: Launch;
}

function programOf(id: number, { place, wish, pipes }: Sent, { waiting, onLeft, retire, launch }: Server): Program {
  const program: { pid: number | undefined; reports: null; ended: Promise<ProgramEnd> } = {
    pid: undefined,
    reports: null,
    ended: new Promise((resolve) => {
      const leave = (): void => {
        waiting.delete(id);
        onLeft();
      };
      const giveUp = (): void => {
        retire();
        if (!isTakenBack(place)) return;
        leave();
        const plain = launch(wish, pipes);
        plain.reports?.on('error', () => undefined).resume();
        program.pid = plain.pid;
        void plain.ended.then(resolve);
      };
      const limit = startTimer(FORK_MS, giveUp);
      let earlier = 0;
      const begun = (pid?: number, before = 0): void => {
        limit.cancel();
        program.pid = pid;
        earlier = before;
        pipes.handOver();
      };
      const end = ({ used, ...how }: ProgramEnd): void => {
        if (program.pid === undefined) begun();
        rmSync(place, { force: true });
        leave();
        resolve({ ...how, used: used && { ...used, cpuMs: used.cpuMs - earlier } });
      };
      waiting.set(id, { begun, end });
    }),
  };
  return program;
}

/** A request is run by the process that removes it. */
function isTakenBack(place: string): boolean {
  try {
    unlinkSync(place);
    return true;
  } catch {
    return false;
  }
}

/** "pid <id> <pid> <µs>", "end <id> <code> <signal> <µs> <bytes>" or "problem <id> <words>". */
function take(waiting: ReadonlyMap<number, Waiting>, line: string): void {
  const [what, id, ...rest] = line.split(' ');
  const program = waiting.get(Number(id));
  if (what === 'pid') program?.begun(Number(rest[0]), Number(rest[1] ?? 0) / 1000);
  else if (what === 'problem') program?.end({ code: null, signal: null, problem: rest.join(' '), used: null });
  else if (what === 'end') {
    const [code, signal, micros, bytes] = rest.map((part) => (part === '-' ? null : Number(part)));
    const used = micros == null || bytes == null ? null : { cpuMs: micros / 1000, peakBytes: bytes };
    program?.end({ code: code ?? null, signal: signalName(signal ?? null), problem: null, used });
  }
}

function signalName(number: number | null): string | null {
  if (number === null) return null;
  return Object.entries(constants.signals).find(([, each]) => each === number)?.[0] ?? 'SIGKILL';
}

/** Ruby's name of the program is overwritten in place, so that of the draft is as long. */
function draftFor({ kind, file }: ForkServerWish, folder: string): string {
  const draft = path.posix.join(folder, DRAFT.repeat(Math.max(1, Buffer.byteLength(file) - folder.length - 1)));
  if (kind === 'rb') writeFileSync(draft, DRAFT);
  return draft;
}

const fits = ({ kind }: ForkServerWish, { fork }: StartWish, draft: string): boolean =>
  kind !== 'rb' || Buffer.byteLength(fork?.file ?? '') === draft.length;

/** Read by the process of the program alone. No part of it can have a null character. */
function requestOf({ uid, home, cwd, stdin, fork, env }: StartWish): string {
  const { file, args } = fork ?? { file: '', args: [] };
  const all = Object.entries({ ...env, HOME: home, PWD: cwd, OLDPWD: '/' }).map(([name, value]) => `${name}=${value}`);
  return [uid, cwd, file, stdin ?? '-', args.length, ...args, ...all].join('\0');
}
