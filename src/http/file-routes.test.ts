import { expect, it } from 'vitest';
import type { Sessions } from '../sandbox/index.ts';
import type { Admission } from './admission.ts';
import { fileRoutes } from './file-routes.ts';
import { createServer } from './server.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const admission = { check: () => undefined, checkRate: () => undefined } as unknown as Admission;

/** What a workspace is given of an upload of base64. */
async function uploaded(content: string) {
  const written: string[] = [];
  const workspace = {
    upload: async ({ files }: { files: readonly { content: Buffer }[] }) => {
      written.push(...files.map((file) => file.content.toString('latin1')));
      return { written: ['a'], deleted: [], needed: [], failed: [] };
    },
  };
  const sessions = { files: (_: string, use: (files: object) => unknown) => use(workspace), tellNew: () => false };
  const routes = fileRoutes(sessions as unknown as Sessions);
  const guarding = { tokens: null, origins: [], names: 'local' as const };
  const server = createServer({ routes, guarding, admission, version: '1', log: silent });
  const payload = { files: [{ path: 'a', content, encoding: 'base64' }] };
  const { statusCode, body } = await server.inject({ method: 'POST', url: '/v1/sessions/x/upload', payload });
  await server.close();
  return { statusCode, code: (JSON.parse(body) as { code?: string }).code, written };
}

it.each(['QUJDR', 'A', '=', 'QUJD=', 'QUI===', 'QU JD'])(
  'base64 that was cut off is refused, as it would be written as something else: %s',
  async (content) => {
    expect(await uploaded(content)).toEqual({ statusCode: 400, code: 'PATH_REFUSED', written: [] });
  },
);

it.each([
  ['', ''],
  ['QUJD', 'ABC'],
  ['QUI=', 'AB'],
  ['QQ==', 'A'],
  ['QQ', 'A'],
  ['QUJDQUI', 'ABCAB'],
])('base64 is taken with and without its end: "%s"', async (content, wanted) => {
  expect(await uploaded(content)).toMatchObject({ statusCode: 200, written: [wanted] });
});

it('a part of a text ends with a whole character, so that the next part begins where its bytes end', async () => {
  const whole = Buffer.from('naïve 日本 ✓ text');
  const workspace = {
    read: async (_: string, from: number) => ({ content: whole.subarray(from, from + 5), size: whole.length }),
  };
  const sessions = { files: (_: string, use: (files: object) => unknown) => use(workspace) };
  const routes = fileRoutes(sessions as unknown as Sessions);
  const guarding = { tokens: null, origins: [], names: 'local' as const };
  const server = createServer({ routes, guarding, admission, version: '1', log: silent });
  let text = '';
  for (let isOver = false; !isOver;) {
    const url = `/v1/sessions/x/fs?path=a&from=${Buffer.byteLength(text)}`;
    const { content, truncated } = (await server.inject(url)).json<{ content: string; truncated: boolean }>();
    expect(content).not.toContain('\uFFFD');
    text += content;
    isOver = !truncated;
  }
  await server.close();
  expect(text).toBe(whole.toString());
});
