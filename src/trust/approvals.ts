import path from 'node:path';
import { z } from 'zod';
import {
  checkPrivateFolder,
  digestOf,
  makePrivateFolder,
  readJson,
  readUntrusted,
  stateHome,
  writeFileAtomic,
} from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import type { SteeringFiles } from './steering-files.ts';

const VERSION = 1;
const FILE_BYTES = 256 * 1024 * 1024;

/** What the user has approved of a repository. */
export interface Approved {
  readonly files: SteeringFiles;
  /** npm registries that workers may reach because the repository names them. */
  readonly registries: readonly string[];
}

const NOTHING: Approved = { files: {}, registries: [] };

const approvalSchema = z.object({
  version: z.literal(VERSION),
  repository: z.string(),
  files: z.record(
    z.string(),
    z.object({ digest: z.string(), bytes: z.number(), executable: z.boolean(), text: z.string().nullable() }),
  ),
  registries: z.array(z.string()).default([]),
});

/** What the user has approved for this working tree. What is unreadable, or another user may have written, is not approved. */
export async function readApproved(root: string, env: Environment): Promise<Approved> {
  const file = approvalFile(root, env);
  const text = await checkPrivateFolder(path.dirname(file))
    .then(() => readUntrusted(file, FILE_BYTES))
    .catch(() => undefined);
  const approval = readJson(approvalSchema, text);
  return approval?.repository === root ? approval : NOTHING;
}

/** The content is kept, too, to show later differences. */
export async function writeApproved(root: string, env: Environment, approved: Approved): Promise<void> {
  const file = approvalFile(root, env);
  await makePrivateFolder(path.dirname(file));
  const { files, registries } = approved;
  const text = JSON.stringify({ version: VERSION, repository: root, files, registries });
  await writeFileAtomic(file, text, { durable: false, mode: 0o600 });
}

function approvalFile(root: string, env: Environment): string {
  const key = digestOf(root).slice(0, 32);
  return path.join(stateHome(env), 'approved', `${key}.json`);
}
