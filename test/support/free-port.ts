import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** A free port of loopback, outside of the range from which the system chooses ports: no other program gets it by chance. */
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
