import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { messageBody, messageEvents, TOKENS } from './model-messages.ts';
import type { Answer } from './model-messages.ts';

/** What the model does next: says something (and stops), uses a tool, takes its time, refuses, or never answers. */
export type Reply =
  | Answer
  | Promise<Answer>
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'hang';

interface ModelRequest {
  readonly headers: IncomingHttpHeaders;
  readonly model: string;
  readonly messages: readonly Message[];
  /** What was asked: the last text of the user in the conversation, without what the CLI adds to it. */
  readonly prompt: string;
}

/** Replies in the order of the requests, or a function that chooses one. */
export type Script = readonly Reply[] | ((request: ModelRequest) => Reply);

export interface ModelServer {
  readonly url: string;
  /** Requests of main conversations: the ones that the script answers. */
  readonly requests: readonly ModelRequest[];
  /** All others that asked the model for something: titles, quota checks. */
  readonly sideRequests: readonly ModelRequest[];
  close(): Promise<void>;
}

/**
 * A model provider with a script in place of a model: enough of Anthropic's API for the real Claude Code CLI. Only this
 * machine itself reaches it, unless it listens on another address.
 */
export async function startModelServer(
  script: Script,
  { host = '127.0.0.1' }: { host?: string } = {},
): Promise<ModelServer> {
  const next = typeof script === 'function' ? script : inOrder(script);
  const requests: ModelRequest[] = [];
  const sideRequests: ModelRequest[] = [];
  const server = createServer((incoming, response) => {
    void answer(incoming, response);
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(incoming);
    const { pathname } = new URL(incoming.url ?? '/', 'http://localhost');
    if (pathname === '/v1/messages/count_tokens') return sendJson(response, 200, { input_tokens: TOKENS.input_tokens });
    if (pathname !== '/v1/messages') return sendOther(response, incoming.method, pathname);
    const parsed = messagesRequest.safeParse(body);
    if (!parsed.success) return sendError(response, 400, z.prettifyError(parsed.error));
    const request = requestOf(incoming, parsed.data);
    // The CLI gives the model its tools in every turn of a conversation, and in none of its side calls.
    const isMain = parsed.data.tools.length > 0;
    (isMain ? requests : sideRequests).push(request);
    send(response, isMain ? await attempt(next, request) : { text: 'ok' }, parsed.data);
  }

  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    requests,
    sideRequests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Each task has its own list of replies; a conversation belongs to the task whose id its prompt names first. */
export function scriptByTask(replies: Readonly<Record<string, readonly Reply[]>>): Script {
  const scripts = new Map(Object.entries(replies).map(([task, list]) => [task, inOrder(list)]));
  return (request) => {
    const task = firstNamed(request.prompt, [...scripts.keys()]);
    const script = task === undefined ? undefined : scripts.get(task);
    if (script === undefined) throw new Error(`no task of the script is named in the prompt: ${request.prompt}`);
    return script(request);
  };
}

function firstNamed(prompt: string, tasks: readonly string[]): string | undefined {
  const words = prompt.split(/[^\w.-]+/).map((word) => word.replace(/[.-]+$/, ''));
  return words.find((word) => tasks.includes(word));
}

/** After the last reply the model has nothing more to do, so it ends each conversation. */
function inOrder(replies: readonly Reply[]): (request: ModelRequest) => Reply {
  const left = [...replies];
  return () => left.shift() ?? { text: 'Done.' };
}

/** A script that throws shows its reason in the client's output. */
async function attempt(next: (request: ModelRequest) => Reply, request: ModelRequest): Promise<Awaited<Reply>> {
  try {
    return await next(request);
  } catch (error) {
    return { status: 400, body: errorBody(`model server: ${String(error)}`) };
  }
}

/** The inner `content` is what a tool has printed. */
const content = z.object({ type: z.string(), text: z.string().optional(), content: z.unknown().optional() });
const message = z.object({ role: z.string(), content: z.union([z.string(), z.array(content)]) });
type Message = z.infer<typeof message>;

const messagesRequest = z.object({
  model: z.string(),
  stream: z.boolean().default(false),
  messages: z.array(message),
  tools: z.array(z.unknown()).default([]),
});
type MessagesRequest = z.infer<typeof messagesRequest>;

function requestOf(incoming: IncomingMessage, { model, messages }: MessagesRequest): ModelRequest {
  const asked = messages.filter(({ role }) => role === 'user').map(wordsOf);
  return { headers: incoming.headers, model, messages, prompt: asked.findLast((words) => words !== '') ?? '' };
}

function wordsOf(message: Message): string {
  if (typeof message.content === 'string') return message.content;
  return message.content
    .map((block) => block.text ?? '')
    .filter((words) => !words.startsWith('<system-reminder>'))
    .join('\n')
    .trim();
}

function send(response: ServerResponse, reply: Awaited<Reply>, request: MessagesRequest): void {
  if (reply === 'hang') return;
  if ('status' in reply) {
    return sendJson(response, reply.status, reply.body ?? errorBody(`status ${reply.status}`), reply.headers);
  }
  if (!request.stream) return sendJson(response, 200, messageBody(reply, request.model));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of messageEvents(reply, request.model)) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

function sendOther(response: ServerResponse, method: string | undefined, path: string): void {
  // The CLI looks whether its base address answers at all.
  if (method === 'HEAD') return void response.writeHead(200).end();
  if (path === '/v1/models') return sendJson(response, 200, { data: [], has_more: false });
  sendError(response, 404, `model server: nothing at ${path}`);
}

function sendError(response: ServerResponse, status: number, reason: string): void {
  sendJson(response, status, errorBody(reason));
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function errorBody(reason: string): unknown {
  return { type: 'error', error: { type: 'scripted_error', message: reason } };
}

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  try {
    return JSON.parse(await text(incoming));
  } catch {
    return undefined;
  }
}
