import { WebSocket } from 'ws';
import { waitUntil } from './wait-until.ts';

export type Message = Record<string, unknown> & { readonly type: string };

export interface SocketClient {
  readonly socket: WebSocket;
  send(message: unknown): void;
  /** All that has come. */
  readonly messages: Message[];
  /** The next message of this type that is not answered yet. */
  next(type: string): Promise<Message>;
  /** What of a stream has come. */
  text(stream: 'stdout' | 'stderr'): string;
}

/** Opens a web socket; rejects with the status of a refusal. */
export async function openSocket(
  address: string,
  session: string,
  { headers = {}, protocols = [] }: { headers?: Record<string, string>; protocols?: string[] } = {},
): Promise<SocketClient> {
  const url = `${address.replace(/^http/, 'ws')}/v1/sessions/${session}/exec`;
  const socket = new WebSocket(url, protocols, { headers });
  const messages: Message[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString('utf8')) as Message));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`refused: ${statusCode}`)));
    socket.on('error', reject);
  });
  const seen = new Set<Message>();
  return {
    socket,
    messages,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next: async (type) => {
      const find = (): Message | undefined => messages.find((each) => each.type === type && !seen.has(each));
      await waitUntil(`a message of the type ${type}`, () => find() !== undefined);
      const found = find()!;
      seen.add(found);
      return found;
    },
    text: (stream) =>
      messages
        .filter(({ type }) => type === stream)
        .map(({ data }) => String(data))
        .join(''),
  };
}
