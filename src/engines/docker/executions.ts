import { finished } from 'node:stream/promises';
import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import { sleep } from '../../lib/index.ts';
import type { Attachment, Engine, Execution, ProgramWish, TerminalSize } from '../engine.ts';
import type { Connection } from './connection.ts';
import { containerPath } from './requests.ts';
import { separated } from './streams.ts';

/** An engine may close the streams a moment before it knows the exit. */
const EXIT_LOOKS = 100;
const EXIT_LOOK_MS = 50;

/** Programs in containers that run already: "exec" in the engine's words. */
export function executionCalls(connection: Connection): Pick<Engine, 'execute'> {
  return { execute: (id, wish) => execute(connection, id, wish) };
}

async function execute(connection: Connection, container: string, wish: ProgramWish): Promise<Execution> {
  const what = `run a program in container ${container}`;
  const path = containerPath(container, '/exec');
  const { Id } = await connection.ask<{ Id: string }>({ what, method: 'POST', path, body: toBody(wish) });
  const Tty = wish.terminal !== null;
  const body = { Detach: false, Tty };
  const socket = await connection.upgrade({ what, method: 'POST', path: `/exec/${Id}/start`, body, slow: true });
  const streams = Tty ? unseparated(socket) : separated(socket);
  const resize = ({ rows: h, columns: w }: TerminalSize): Promise<void> =>
    // 404, 409: it has just ended.
    connection.tell({ what, method: 'POST', path: `/exec/${Id}/resize`, query: { h, w }, fine: [404, 409] });
  if (wish.terminal !== null) await resize(wish.terminal);
  return { ...streams, resize, exit: () => exitOf(connection, Id, streams) };
}

function toBody({ command, env, workdir, terminal }: ProgramWish) {
  return {
    Cmd: [...command],
    // A name without a value removes the variable.
    Env: Object.entries(env).map(([name, value]) => (value === null ? name : `${name}=${value}`)),
    WorkingDir: workdir,
    Tty: terminal !== null,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Privileged: false,
  };
}

/** Output of a terminal comes without frames. */
function unseparated(socket: Duplex): Attachment {
  const stderr = new PassThrough();
  stderr.end();
  const stdout = new PassThrough();
  socket.on('error', () => undefined);
  socket.once('close', () => stdout.end());
  socket.pipe(stdout);
  return { stdin: socket, stdout, stderr, close: () => void socket.destroy() };
}

async function exitOf(connection: Connection, id: string, { stdout, stderr }: Attachment): Promise<number | null> {
  await Promise.all([stdout, stderr].map((stream) => finished(stream, { writable: false }).catch(() => undefined)));
  for (let look = 0; look < EXIT_LOOKS; look += 1) {
    const call = { what: 'see how a program has ended', method: 'GET', path: `/exec/${id}/json` } as const;
    const found = await connection.find<{ Running: boolean; ExitCode: number | null }>(call);
    if (found === undefined) return null;
    if (!found.Running) return found.ExitCode;
    await sleep(EXIT_LOOK_MS);
  }
  return null;
}
