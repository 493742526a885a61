export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** The events of a stream of server-sent events, as they come. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      text += done ? '' : decoder.decode(value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event !== undefined) yield event;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Undefined for a comment, which keeps the connection alive. */
function parseEvent(block: string): ServerEvent | undefined {
  const lines = block.split('\n');
  const event = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length);
  if (event === undefined) return undefined;
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length));
  return { event, data: data.join('\n') };
}
