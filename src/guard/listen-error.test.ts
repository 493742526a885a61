import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { listenError } from './listen-error.ts';

/** What a real attempt to listen ends with. */
async function attempt(host: string): Promise<unknown> {
  const error = await new Promise((resolve) => createServer().once('error', resolve).listen({ host, port: 0 }));
  return listenError(error, { host, port: 0 });
}

it('an address of another machine is named, and is no fault of this program', async () => {
  expect(await attempt('203.0.113.5')).toMatchObject({
    code: 'LISTEN_REFUSED',
    exit: 4,
    message: 'The server cannot listen on 203.0.113.5:0: this machine has no such address.',
  });
});

it('a port that only root may have is not taken for a file', () => {
  const error = Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' });
  expect(listenError(error, { host: '127.0.0.1', port: 80 })).toMatchObject({
    code: 'LISTEN_REFUSED',
    message: 'The server cannot listen on 127.0.0.1:80: you have no right to it.',
  });
});

it('a port that is taken is told as before, and any other error stays as it is', () => {
  const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  expect(listenError(taken, { host: 'x', port: 1 })).toMatchObject({ code: 'PORT_TAKEN' });
  const other = new Error('other');
  expect(listenError(other, { host: 'x', port: 1 })).toBe(other);
});
