import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import type { Attachment, Engine, LogSink } from '../engine.ts';
import type { Connection } from './connection.ts';
import { createFrameReader, demultiplex } from './demultiplex.ts';
import { refusal, whole } from './errors.ts';
import { containerPath } from './requests.ts';

/** The output of containers, live and from the engine's log. */
export function streamCalls(connection: Connection): Pick<Engine, 'attach' | 'logs'> {
  return {
    attach: (id) => attach(connection, id),
    logs: async (id, { follow, tail, signal }, sink) => {
      const asked = { what: `read the log of container ${id}`, place: connection.place };
      const query = { stdout: true, stderr: true, follow, tail: String(tail) };
      const path = containerPath(id, '/logs');
      try {
        const stream = await connection.open({ what: asked.what, method: 'GET', path, query }, { signal });
        await whole(asked, readLog(stream, sink, asked));
      } catch (error) {
        if (signal?.aborted !== true) throw error;
      }
    },
  };
}

async function readLog(
  stream: AsyncIterable<Buffer>,
  sink: LogSink,
  asked: { what: string; place: string },
): Promise<void> {
  const read = createFrameReader();
  const complaint: Buffer[] = [];
  for await (const chunk of stream) {
    for (const { stream, data } of read(chunk)) {
      if (stream === 'engine') complaint.push(data);
      else sink[stream](data);
    }
  }
  if (complaint.length > 0) throw refusal(asked, Buffer.concat(complaint).toString('utf8').trim());
}

async function attach(connection: Connection, id: string): Promise<Attachment> {
  const query = { stream: true, stdin: true, stdout: true, stderr: true };
  const what = `attach to container ${id}`;
  const socket = await connection.upgrade({ what, method: 'POST', path: containerPath(id, '/attach'), query });
  return separated(socket);
}

/** The three streams of one connection. */
export function separated(socket: Duplex): Attachment {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  // A broken connection ends the output like the end of the container: `waitContainer` tells which it was.
  socket.on('error', () => undefined);
  const end = (): void => {
    stdout.end();
    stderr.end();
  };
  demultiplex(socket, stdout, stderr).then(end, end);
  return { stdin: socket, stdout, stderr, close: () => void socket.destroy() };
}
