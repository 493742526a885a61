import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { CodeRunner } from './code-runner.ts';
import { createToolServer } from './tools.ts';

interface StdioRequest {
  readonly version: string;
  readonly onNote: (note: string) => void;
  /** Opens what code runs in. `closing` gets the steps that end it. */
  readonly open: (closing: (() => Promise<unknown>)[]) => Promise<CodeRunner>;
}

/** Serves one client on stdin and stdout, until it leaves or `signal` is given. */
export async function serveOnStdio({ version, onNote, open }: StdioRequest, signal: AbortSignal): Promise<void> {
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const runner = await open(closing);
    const gone = new Promise<void>((resolve) => {
      for (const event of ['end', 'close'] as const) process.stdin.once(event, () => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const handle = serveStdio(() => createToolServer(version, runner), { onerror: ({ message }) => onNote(message) });
    closing.push(() => handle.close());
    await gone;
  } finally {
    for (const step of closing.toReversed()) await step().catch((error: unknown) => onNote(String(error)));
  }
}
