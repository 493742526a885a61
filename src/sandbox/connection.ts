import type { Attachment } from '../engines/index.ts';
import { readJson } from '../lib/index.ts';
import {
  createFrameReader,
  encodeCredit,
  encodeFrame,
  encodeJson,
  FRAME,
  fileAnswer,
  forkServerAnswer,
  sandboxEnd,
} from '../protocol/index.ts';
import type {
  DoorWish,
  FileAnswer,
  FileCall,
  ForkServerWish,
  Frame,
  FrameKind,
  SandboxEnd,
  StartWish,
} from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';

/** How much output of one execution is under way at a time: what a slow reader costs. */
const WINDOW_BYTES = 256 * 1024;
/** The agent hears of what was taken in such steps, so that short output costs no message. */
const CREDIT_BYTES = WINDOW_BYTES / 4;
/** What an agent prints on stderr is a fault of its own: this much of it is kept, for the error. */
const COMPLAINT_CHARS = 2000;
/** The number of the first frame, which no execution has. */
const HELLO = 0;
const NO_PROTOCOL = 'its agent does not keep to the protocol';

export type Stream = 'stdout' | 'stderr';

/** Takes output. While its promise is pending, the program is slowed down. */
export type OutputSink = (stream: Stream, bytes: Buffer) => void | Promise<void>;

export type ProgramWish = Omit<StartWish, 'credit'>;

export interface Running {
  kill(): void;
  /** Whether its agent has said so. */
  hasBegun(): boolean;
  /** Rejects with SANDBOX_GONE. */
  readonly end: Promise<SandboxEnd>;
}

/** What the host says to the agent of one sandbox. */
export interface Connection {
  /** Rejects with SANDBOX_GONE when the agent ends before. */
  readonly ready: Promise<void>;
  run(wish: ProgramWish, sink: OutputSink): Running;
  /** Resolves when programs find the egress proxy. Rejects with SANDBOX_GONE. */
  openDoor(wish: DoorWish): Promise<void>;
  /** Rejects with SANDBOX_GONE. */
  files(call: FileCall): Promise<FileAnswer>;
  /** Resolves with whether the agent has a fork server of this kind. Rejects with SANDBOX_GONE. */
  prepare(wish: ForkServerWish): Promise<boolean>;
  /** Ends the agent, and with it the container; whatever waits fails for this reason. */
  fail(reason: string): void;
  isOver(): boolean;
  /** Resolves when no agent answers any more. */
  readonly gone: Promise<unknown>;
}

/** Nothing that the agent says is believed further than its form allows: the host's numbers tell which execution it is about. */
export function connect(attachment: Attachment): Connection {
  const waiters = createWaiters(attachment.close);
  const { stdin } = attachment;
  const send = sender(stdin);
  const ready = waiters.wait<void>(
    HELLO,
    (resolve) =>
      ({ kind }) =>
        kind === FRAME.ready && resolve(),
  );
  ready.catch(() => undefined);
  const gone = listen(attachment, waiters);
  const ask = <Answer>(
    kind: FrameKind,
    wish: FileCall | DoorWish | ForkServerWish,
    schema: Parameters<typeof readJson<Answer>>[0],
  ): Promise<Answer> => {
    const id = waiters.nextId();
    send(encodeJson(kind, id, wish));
    return waiters.wait<Answer>(id, (resolve) => (frame) => {
      if (frame.kind === FRAME.answer) resolve(waiters.read(schema, frame.payload));
    });
  };
  return {
    ready,
    gone,
    isOver: waiters.isOver,
    fail: (reason) => void waiters.fail(reason),
    run: (wish, sink) => run(wish, sink, waiters, send),
    openDoor: async (wish) => void (await ask(FRAME.door, wish, fileAnswer)),
    prepare: async (wish) => (await ask(FRAME.prepare, wish, forkServerAnswer)).isReady,
    files: (call) => ask(FRAME.call, call, fileAnswer),
  };
}

/** What is sent in one turn goes together: each message wakes the engine and the agent. */
function sender(stdin: Attachment['stdin']): (frame: Buffer) => void {
  return (frame) => {
    if (!stdin.writable) return;
    if (stdin.writableCorked === 0) {
      stdin.cork();
      process.nextTick(() => stdin.uncork());
    }
    stdin.write(frame);
  };
}

function run(wish: ProgramWish, sink: OutputSink, waiters: Waiters, send: (frame: Buffer) => void): Running {
  const id = waiters.nextId();
  let begun = false;
  let untold = 0;
  const output = (stream: Stream, bytes: Buffer): void => {
    const more = (): void => {
      untold += bytes.length;
      if (untold < CREDIT_BYTES) return;
      send(encodeCredit(id, untold));
      untold = 0;
    };
    const taken = sink(stream, bytes);
    if (taken === undefined) more();
    else void taken.then(more, more);
  };
  send(encodeJson(FRAME.start, id, { ...wish, credit: WINDOW_BYTES }));
  const end = waiters.wait<SandboxEnd>(id, (resolve) => ({ kind, payload }) => {
    if (kind === FRAME.begun) begun = true;
    else if (kind === FRAME.stdout) output('stdout', payload);
    else if (kind === FRAME.stderr) output('stderr', payload);
    else if (kind === FRAME.end) resolve(waiters.read(sandboxEnd, payload));
  });
  return { kill: () => send(encodeFrame(FRAME.kill, id, Buffer.alloc(0))), hasBegun: () => begun, end };
}

/** Hands the agent's frames to those that wait for them. Resolves when no more come. */
function listen({ stdin, stdout, stderr }: Attachment, waiters: Waiters): Promise<void> {
  const read = createFrameReader(waiters.take);
  let complaint = '';
  stdout.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch {
      waiters.fail(NO_PROTOCOL);
    }
  });
  stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(0, COMPLAINT_CHARS);
  });
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
  return new Promise((resolve) => {
    stdout.once('close', () => {
      waiters.fail(complaint.trim() || 'its container is gone');
      resolve();
    });
  });
}

type Take = (frame: Frame) => unknown;
type Waiters = ReturnType<typeof createWaiters>;

/** Those that wait for frames, by the number of their execution or call. */
function createWaiters(onFailure: () => void) {
  const waiting = new Map<number, { readonly take: Take; readonly fail: (error: Error) => void }>();
  let last = HELLO;
  let over: Error | undefined;
  const fail = (reason: string): Error => {
    if (over !== undefined) return over;
    over = sandboxErrors.SANDBOX_GONE({ reason });
    for (const each of waiting.values()) each.fail(over);
    waiting.clear();
    onFailure();
    return over;
  };
  return {
    fail,
    isOver: (): boolean => over !== undefined,
    nextId: (): number => ++last,
    take: (frame: Frame): void => void waiting.get(frame.id)?.take(frame),
    wait: <Answer>(id: number, begin: (resolve: (answer: Answer) => void) => Take): Promise<Answer> =>
      new Promise((resolve, reject) => {
        if (over !== undefined) return reject(over);
        const settle = (answer: Answer): void => {
          waiting.delete(id);
          resolve(answer);
        };
        waiting.set(id, { take: begin(settle), fail: reject });
      }),
    /** Throws SANDBOX_GONE, and ends the connection, when the payload is not as it should be. */
    read: <Value>(schema: Parameters<typeof readJson<Value>>[0], payload: Buffer): Value => {
      const value = readJson(schema, payload.toString('utf8'));
      if (value === undefined) throw fail(NO_PROTOCOL);
      return value;
    },
  };
}
