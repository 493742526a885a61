import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Call, Connection } from './connection.ts';
import { imageCalls } from './images.ts';

/** One that is just being removed cannot be looked at: the engine answers 500, "layer does not exist". */
it('images are listed with one request, which an image that is removed meanwhile does not break', async () => {
  const asked: string[] = [];
  const common = { Labels: { ours: 'yes' }, Size: 7, Created: 1_700_000_000 };
  const connection = {
    find: async () => Promise.reject(new Error('layer does not exist')),
    ask: async ({ path }: Call) => {
      asked.push(path);
      return [
        { Id: 'a', RepoTags: ['localhost/x:1', 'docker.io/library/x:2', 'reg.example/x:3'], ...common },
        { Id: 'b', RepoTags: ['<none>:<none>'], ...common },
        { Id: 'c', RepoTags: null, RepoDigests: ['x@sha256:1'], ...common },
      ];
    },
  } as unknown as Connection;
  expect(await imageCalls(connection).listImages({ ours: 'yes' })).toEqual([
    {
      id: 'a',
      labels: { ours: 'yes' },
      bytes: 7,
      createdAt: '2023-11-14T22:13:20.000Z',
      tags: ['x:1', 'x:2', 'reg.example/x:3'],
    },
  ]);
  expect(asked).toEqual(['/images/json']);
});

it.each([
  ['node:24-slim', 'node:24-slim'],
  ['node', 'node:latest'],
  ['team/app', 'team/app:latest'],
  ['localhost:5000/app', 'localhost:5000/app:latest'],
  ['localhost:5000/app:1', 'localhost:5000/app:1'],
  [`node@sha256:${'a'.repeat(64)}`, `node@sha256:${'a'.repeat(64)}`],
])('of %s one image is fetched, %s', async (name, fetched) => {
  const asked: unknown[] = [];
  const connection = {
    place: 'here',
    open: async ({ query }: Call) => {
      asked.push(query);
      return Readable.from([]);
    },
  } as unknown as Connection;
  await imageCalls(connection).pullImage(name, () => undefined);
  expect(asked).toEqual([{ fromImage: fetched }]);
});
