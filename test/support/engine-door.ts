import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import path from 'node:path';
import { tempFolder } from './temp-folder.ts';

const ENGINE = '/var/run/docker.sock';

/**
 * A way to the machine's engine. When it is shut, that engine is gone for what uses it. Its containers live on, with their
 * stdin open, as they do when an engine with "live-restore" is started anew.
 */
export interface EngineDoor {
  /** For DOCKER_HOST. */
  readonly host: string;
  open(): Promise<void>;
  shut(): void;
  remove(): void;
}

export function createEngineDoor(): EngineDoor {
  const file = path.join(tempFolder(), 'engine.sock');
  const [near, far] = [new Set<Socket>(), new Set<Socket>()];
  let server: Server | undefined;
  const shut = (): void => {
    server?.close();
    for (const socket of near) socket.destroy();
    rmSync(file, { force: true });
  };
  return {
    host: `unix://${file}`,
    open: async () => {
      const opened = createServer({ allowHalfOpen: true }, (asked) => {
        const engine = kept(far, connect({ path: ENGINE, allowHalfOpen: true }));
        kept(near, asked).pipe(engine).pipe(asked);
      });
      server = opened;
      await new Promise<void>((resolve) => opened.listen(file, resolve));
    },
    shut,
    remove: () => {
      shut();
      for (const socket of far) socket.destroy();
    },
  };
}

function kept(sockets: Set<Socket>, socket: Socket): Socket {
  sockets.add(socket);
  return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
}
