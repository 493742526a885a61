import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Proxies end connections that are silent. */
const HEARTBEAT_MS = 15_000;
/** After so many heartbeats in which nothing could be written, a reader is gone. */
const STUCK_BEATS = 4;

export interface EventStream {
  /** Resolves when the reader has room for more; at once when it has gone. */
  send(event: string, data: string): Promise<void>;
  end(): void;
  /** Fires when the reader has gone before the end. */
  readonly gone: AbortSignal;
}

/** Server-sent events. A line end in the data begins a further `data:` line, so that no data can pass for an event. */
export function openEventStream(reply: FastifyReply, beatMs = HEARTBEAT_MS): EventStream {
  reply.hijack();
  const { raw } = reply;
  const gone = new AbortController();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  raw.flushHeaders();
  raw.once('close', () => gone.abort());
  // One that has gone already closes no more.
  if (raw.destroyed) gone.abort();
  else keepAlive(raw, beatMs);
  raw.on('error', () => undefined);
  return {
    gone: gone.signal,
    send: async (event, data) => {
      const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
      if (gone.signal.aborted || raw.write(`event: ${event}\n${lines.join('')}\n`)) return;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          raw.off('drain', go);
          raw.off('close', go);
          resolve();
        };
        raw.once('drain', go);
        raw.once('close', go);
      });
    },
    end: () => raw.end(),
  };
}

/** Ends the connection of a reader that takes nothing of what is there for it, also after the last event. */
function keepAlive(raw: ServerResponse, beatMs: number): void {
  let stuck = 0;
  let before = 0;
  const look = setInterval(() => {
    const unread = raw.writableLength;
    const read = (raw.socket?.bytesWritten ?? 0) - unread;
    stuck = unread > 0 && read <= before ? stuck + 1 : 0;
    before = read;
    if (stuck >= STUCK_BEATS) raw.destroy();
    else if (unread === 0 && !raw.writableEnded) raw.write(': alive\n\n');
  }, beatMs);
  raw.once('close', () => clearInterval(look));
}
