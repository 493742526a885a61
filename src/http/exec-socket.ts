import { readJson } from '../lib/index.ts';
import type { Sessions } from '../sandbox/index.ts';
import type { Admission } from './admission.ts';
import * as bodies from './bodies.ts';
import { httpErrors } from './errors.ts';
import { refusalOf } from './refusal.ts';
import { route } from './route.ts';
import type { Route } from './route.ts';
import { runForReader, wishOf } from './run-command.ts';
import type { Line, SocketRoute } from './web-socket.ts';

/** Of one socket, beside the one that runs. */
const WAITING = 16;

/** Commands of a session, one after the other, over one socket. */
export function execSocket(sessions: Sessions, admission: Admission): SocketRoute {
  return {
    path: /^\/v1\/sessions\/([^/]+)\/exec$/,
    open: (user, id) => {
      const admit = (): void => {
        admission.checkRate(user);
        admission.check({ user, session: id, body: undefined });
      };
      admit();
      return (line) => ({ isBusy: serve(sessions, { id, admit }, line) });
    },
  };
}

/** For those that ask without "Upgrade". */
export function execSocketRoute(): Route {
  return route({
    method: 'GET',
    path: '/v1/sessions/:id/exec',
    summary: 'Open a web socket that runs commands one after the other',
    answer: bodies.socketMessage,
    status: 101,
    refusals: { 404: 'SESSION_UNKNOWN', 426: 'UPGRADE_NEEDED' },
    handle: async () => {
      throw httpErrors.UPGRADE_NEEDED({});
    },
  });
}

interface Served {
  readonly id: string;
  /** Throws what a request would be refused with. */
  admit(): void;
}

/** Returns what tells whether a command runs or waits. */
function serve(sessions: Sessions, { id, admit }: Served, line: Line): () => boolean {
  const waiting: ReturnType<typeof wishOf>[] = [];
  let isRunning = false;
  const answerError = (error: unknown): Promise<void> => line.send({ type: 'error', ...refusalOf(error).body });
  const runAll = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    for (let wish = waiting.shift(); wish !== undefined && !line.gone.aborted; wish = waiting.shift())
      await run(sessions, id, wish, line).catch(answerError);
    isRunning = false;
  };
  line.onMessage((text) => {
    try {
      admit();
      const message = read(text);
      if (message.type !== 'kill') {
        if (waiting.length >= WAITING) throw httpErrors.TOO_MANY_WAITING({ limit: WAITING });
        waiting.push(wishOf(message));
        void runAll();
      } else if (isRunning) void sessions.kill(id).catch(answerError);
    } catch (error) {
      void answerError(error);
    }
  });
  return () => isRunning;
}

async function run(sessions: Sessions, id: string, asked: ReturnType<typeof wishOf>, line: Line): Promise<void> {
  const wish = await sessions.prepare(id, asked);
  const send = (type: string, data: string): Promise<void> => line.send({ type, data });
  const end = await runForReader(sessions, id, wish, { send, gone: line.gone });
  await line.send({ type: 'exit', ...end });
}

/** Throws MESSAGE_INVALID. */
function read(text: string | undefined): NonNullable<ReturnType<typeof parsed>> {
  if (text === undefined) throw httpErrors.MESSAGE_INVALID({ problem: 'it is bytes and not text' });
  const message = parsed(text);
  if (message === undefined)
    throw httpErrors.MESSAGE_INVALID({ problem: 'it is not JSON as GET /openapi.json has it' });
  return message;
}

const parsed = (text: string) => readJson(bodies.socketRequest, text);
