import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** A port of loopback, below those that the machine gives to whoever asks for any: nobody else gets it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer().once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
