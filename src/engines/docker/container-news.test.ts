import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { Connection } from './connection.ts';
import { createContainerNews } from './container-news.ts';

/** An engine whose events are what a test writes; one stream for each listener. */
function newsroom(): { connection: Connection; streams: PassThrough[] } {
  const streams: PassThrough[] = [];
  const open = async (): Promise<PassThrough> => {
    const stream = new PassThrough();
    streams.push(stream);
    return stream;
  };
  return { connection: { place: 'here', open } as unknown as Connection, streams };
}

it("without events the engine's silence about a container means nothing", async () => {
  const { connection, streams } = newsroom();
  const news = createContainerNews(connection);
  const early = await news.hold('early');
  expect(early.isHeard).toBe(true);
  streams[0]?.end();
  await expect.poll(() => early.isHeard).toBe(false);
  const late = await news.hold('late');
  expect([late.isHeard, early.isHeard, streams.length]).toEqual([true, false, 2]);
});

it('events of a container count after the end of the stream, too', async () => {
  const { connection, streams } = newsroom();
  const news = await createContainerNews(connection).hold('c');
  for (const Action of ['oom', 'die']) streams[0]?.write(`${JSON.stringify({ Action, Actor: { ID: 'c' } })}\n`);
  await expect.poll(() => news.death.aborted).toBe(true);
  streams[0]?.end();
  await expect.poll(() => news.isHeard).toBe(false);
  expect(news.ranOutOfMemory).toBe(true);
});
