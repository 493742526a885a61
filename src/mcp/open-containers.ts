import { hostname } from 'node:os';
import path from 'node:path';
import type { Engine } from '../engines/index.ts';
import { stateHome } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { programFile } from '../project/index.ts';
import { createCodeSessions, openHome, openHomeFolder } from '../sandbox/index.ts';
import type { CodeRunner } from './code-runner.ts';

const MB = 1024 ** 2;
const OUTPUT_BYTES = MB;
/** What code runs as: no user of a usual image. */
const UID = 70_000;

interface ContainersRequest {
  readonly engine: Engine;
  /** The image with Node and the sandbox agent. */
  readonly runtimeImage: { readonly tag: string; readonly id: string };
  /** The image with Bun. */
  readonly image: string;
  readonly env: Environment;
  readonly onNote: (note: string) => void;
}

/** Code runs in containers. `closing` gets the steps that remove them. */
export async function openContainers(
  { engine, runtimeImage, image, env, onNote }: ContainersRequest,
  closing: (() => Promise<unknown>)[],
): Promise<CodeRunner> {
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
  return sessions;
}
