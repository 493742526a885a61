import { createHash } from 'node:crypto';
import { hasCode } from '../lib/index.ts';
import type { SandboxEnd } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import type { Session } from './session.ts';
import type { WorkspaceFiles } from './workspace.ts';

/** Of a file that a set-up reads. */
const SOURCE_BYTES = 16 * 1024 * 1024;

/** Throws NOTHING_TO_RUN when the default command has nothing to work on. */
export async function checkNeeds({ kind, workspace }: Session, files: WorkspaceFiles): Promise<void> {
  const { needs } = kind;
  if (needs === null || (await contentOf(files, needs, 1)) !== undefined) return;
  throw sandboxErrors.NOTHING_TO_RUN({ command: kind.defaultCommand, file: `${workspace}/${needs}` });
}

/** A digest of the files that the set-up reads; null when none of them is there, so that there is nothing to set up. */
export async function setUpSource({ kind }: Session, files: WorkspaceFiles): Promise<string | null> {
  const { setupFiles } = kind;
  // Nothing is known of what it reads: it is done each time.
  if (setupFiles.length === 0) return '';
  const contents = await Promise.all(setupFiles.map((file) => contentOf(files, file, SOURCE_BYTES)));
  if (contents.every((content) => content === undefined)) return null;
  const digests = contents.map((content) => (content === undefined ? '' : digestOf(content)));
  return digestOf(Buffer.from(digests.join(' ')));
}

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

async function contentOf(files: WorkspaceFiles, file: string, bytes: number): Promise<Buffer | undefined> {
  try {
    return (await files.read(file, 0, bytes)).content;
  } catch (error) {
    if (hasCode(error, sandboxErrors.PATH_REFUSED) || hasCode(error, sandboxErrors.FILE_MISSING)) return undefined;
    throw error;
  }
}

/** What to do about a set-up that has failed, for its stderr. */
export function noteOnSetUp({ network }: Pick<Session, 'network'>, setup: string, end: SandboxEnd): string {
  const { code, endedBy } = end;
  const why = code === null || endedBy !== 'itself' ? 'was ended' : `ended with exit status ${code}`;
  const offline =
    'This session has no network: open one with "network": true, upload what the set-up would fetch, or name a command.';
  const online = 'This session reaches only the hosts that the server allows.';
  return `\nThe set-up "${setup}" ${why}, and so the default command did not run. ${network === null ? offline : online}\n`;
}
