import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { McpSettings } from '../config/index.ts';
import { closeAll, openLate } from './late-runner.ts';
import type { Closing, Place } from './late-runner.ts';
import { createClients } from './clients.ts';
import { createToolServer } from './tools.ts';

interface StdioRequest {
  readonly version: string;
  readonly settings: McpSettings;
  readonly place: Place;
  readonly onNote: (note: string) => void;
}

/** Serves one client on stdin and stdout, until it leaves or `signal` is given. */
export async function serveOnStdio(request: StdioRequest, signal: AbortSignal): Promise<void> {
  const { version, settings, place, onNote } = request;
  const onFailure = (error: unknown): void => onNote(String(error));
  const closing: Closing = [];
  try {
    const gone = new Promise<void>((resolve) => {
      for (const event of ['end', 'close'] as const) process.stdin.once(event, () => resolve());
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const runner = openLate(place);
    closing.push(runner.close);
    const clients = createClients(runner, settings);
    const looks = clients.watch(onFailure);
    closing.push(async () => looks.cancel());
    const client = clients.open('local');
    const handle = serveStdio(() => createToolServer({ version, settings, runner: client }), {
      onerror: ({ message }) => onNote(message),
    });
    closing.push(() => handle.close());
    // What was called off because the client has left is nobody's failure.
    let isServing = true;
    runner.ready().catch((error: unknown) => isServing && onFailure(error));
    await gone;
    isServing = false;
  } finally {
    await closeAll(closing).catch(onFailure);
  }
}
