import { EventEmitter, once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { scriptByTask, startModelServer } from './model-server.ts';
import type { ModelServer, Script } from './model-server.ts';

let server: ModelServer | undefined;

afterEach(async () => {
  await server?.close();
});

const TOOLS = [{ name: 'Write' }];
const asks = (text: string, more: object = {}): object => ({
  model: 'claude-x',
  tools: TOOLS,
  messages: [{ role: 'user', content: text }],
  ...more,
});

async function serve(script: Script): Promise<(path: string, body?: object) => Promise<Response>> {
  const { url } = (server = await startModelServer(script));
  return (path, body) => fetch(url + path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
}

it('answers without a stream', async () => {
  const ask = await serve([{ toolUse: { name: 'Write', input: { file_path: 'a' } }, text: 'I write.' }]);
  expect(await (await ask('/v1/messages', asks('do it'))).json()).toEqual({
    id: expect.stringMatching(/^msg_/),
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [
      { type: 'text', text: 'I write.' },
      { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'Write', input: { file_path: 'a' } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 40, cache_read_input_tokens: 30, cache_creation_input_tokens: 20 },
  });
});

it('streams, and ends every conversation after the last reply', async () => {
  const ask = await serve([]);
  const response = await ask('/v1/messages?beta=true', asks('do it', { stream: true }));
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const types = (await response.text()).match(/(?<=^event: ).*$/gm);
  expect(types).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
});

it('keeps the script for the main conversations', async () => {
  const ask = await serve([{ text: 'first' }]);
  await ask('/v1/messages', asks('a title, please', { tools: [] }));
  expect(await (await ask('/v1/messages', asks('do it'))).json()).toMatchObject({ content: [{ text: 'first' }] });
  expect(server?.requests.map(({ prompt }) => prompt)).toEqual(['do it']);
  expect(server?.sideRequests.map(({ prompt }) => prompt)).toEqual(['a title, please']);
});

it('finds what was asked under what the client adds', async () => {
  const ask = await serve([]);
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>x</system-reminder>' },
        { type: 'text', text: 'do it' },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use' }] },
    { role: 'user', content: [{ type: 'tool_result', content: 'ok' }] },
  ];
  await ask('/v1/messages', asks('', { messages }));
  expect(server?.requests.map(({ prompt }) => prompt)).toEqual(['do it']);
});

it('gives each task its own replies', async () => {
  const ask = await serve(scriptByTask({ 'T-1': [{ text: 'one' }], 'T-10': [{ text: 'ten' }, { status: 529 }] }));
  const say = async (prompt: string) => (await ask('/v1/messages', asks(prompt))).json();
  expect(await say('# Task T-10: needs T-1.')).toMatchObject({ content: [{ text: 'ten' }] });
  expect(await say('# Task T-1: is needed by T-10')).toMatchObject({ content: [{ text: 'one' }] });
  expect(await say('# Task T-10: again')).toMatchObject({ error: { message: 'status 529' } });
  expect(await say('# Task T-2: unknown')).toMatchObject({
    error: { message: expect.stringMatching(/no task of the script/) },
  });
});

it('refuses with the given status, body and headers', async () => {
  const ask = await serve([{ status: 429, body: { wait: true }, headers: { 'retry-after': '7' } }]);
  const response = await ask('/v1/messages', asks('do it'));
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
    429,
    '7',
    { wait: true },
  ]);
});

it('takes its time where the script does, and knows what a tool has printed', async () => {
  const door = new EventEmitter();
  const ask = await serve([once(door, 'open').then(() => ({ text: 'at last' }))]);
  const messages = [{ role: 'user', content: [{ type: 'tool_result', content: 'printed by a tool' }] }];
  const pending = ask('/v1/messages', asks('', { messages }));
  while (server?.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  door.emit('open');
  expect(await (await pending).json()).toMatchObject({ content: [{ text: 'at last' }] });
  expect(JSON.stringify(server?.requests)).toContain('printed by a tool');
});

it('listens on the given address', async () => {
  server = await startModelServer([], { host: '127.0.0.2' });
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  expect((await fetch(`${server.url}/v1/models`)).status).toBe(200);
});

it('hangs until it is closed', async () => {
  const ask = await serve(['hang']);
  const pending = ask('/v1/messages', asks('do it')).catch(() => 'cut off');
  while (server?.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await server?.close();
  expect(await pending).toBe('cut off');
});

it('answers what else a client may want', async () => {
  const ask = await serve([]);
  expect(await (await ask('/v1/messages/count_tokens', asks('do it'))).json()).toEqual({ input_tokens: 100 });
  expect(await (await ask('/v1/models')).json()).toEqual({ data: [], has_more: false });
  expect((await ask('/api/event_logging', {})).status).toBe(404);
});
