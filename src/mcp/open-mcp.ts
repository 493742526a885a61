import { hostname } from 'node:os';
import path from 'node:path';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Engine } from '../engines/index.ts';
import { stateHome } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { programFile } from '../project/index.ts';
import { createCodeSessions, openHome, openHomeFolder } from '../sandbox/index.ts';
import { createToolServer } from './tools.ts';

const MB = 1024 ** 2;
const OUTPUT_BYTES = MB;
/** What code runs as: no user of a usual image. */
const UID = 70_000;

interface McpRequest {
  readonly engine: Engine;
  /** The image with Node and the sandbox agent. */
  readonly runtimeImage: { readonly tag: string; readonly id: string };
  /** The image with Bun. */
  readonly image: string;
  readonly version: string;
  readonly env: Environment;
  readonly onNote: (note: string) => void;
}

/** Serves one client on stdin and stdout, until it leaves or `signal` is given. */
export async function serveMcp(request: McpRequest, signal: AbortSignal): Promise<void> {
  const { engine, runtimeImage, image, version, env, onNote } = request;
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const folder = path.join(stateHome(env), 'mcp');
    const labels = { 'mahabharatha.mcp': folder, 'mahabharatha.machine': hostname() };
    const place = await openHomeFolder({ engine, kind: 'mcp', folder, labels, onNote });
    closing.push(place.own.remove);
    const home = await openHome(
      place,
      { engine, runtimeImage, sweeper: programFile('sweeper'), env, egress: null },
      closing,
    );
    const limits = { cpus: 2, memoryBytes: 512 * MB, diskBytes: 256 * MB, processes: 64 };
    const sessions = createCodeSessions(home, { image, limits, outputBytes: OUTPUT_BYTES, uid: UID });
    closing.push(sessions.closeAll);
    const gone = new Promise<void>((resolve) => {
      for (const event of ['end', 'close'] as const) process.stdin.once(event, () => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const handle = serveStdio(() => createToolServer(version, sessions), { onerror: ({ message }) => onNote(message) });
    closing.push(() => handle.close());
    await gone;
  } finally {
    for (const step of closing.toReversed()) await step().catch((error: unknown) => onNote(String(error)));
  }
}
