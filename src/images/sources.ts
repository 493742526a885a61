import { lstat, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { libErrors, reasonOf, systemCode } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import { contextFile } from './content.ts';
import type { ContextFile } from './content.ts';
import { REPOSITORY_CONTEXT, REPOSITORY_DOCKERFILE } from './repository-image.ts';
import { PROGRAMS, WORKER_DOCKERFILE } from './worker-image.ts';

const SCRIPTS = ['prepare.sh', 'add-certificates.sh', 'fetch-claude.sh', 'healthcheck.sh'].map(
  (name) => `docker/worker/${name}`,
);
/** A toolchain is described, not shipped: more than this is a mistake, say node_modules. */
const CONTEXT_LIMIT_BYTES = 50 * 1024 * 1024;

interface PackageSources {
  readonly recipe: readonly ContextFile[];
  readonly programs: readonly ContextFile[];
}

/** What this package brings for the worker image. */
export async function readPackageSources(root: string): Promise<PackageSources> {
  const read = async (file: string): Promise<ContextFile> => contextFile(file, await readOrTell(path.join(root, file)));
  const recipe = await Promise.all([WORKER_DOCKERFILE, ...SCRIPTS].map(read));
  const programs = await Promise.all(PROGRAMS.map(read));
  return { recipe, programs };
}

interface RepositorySources {
  readonly dockerfile: string;
  readonly companions: readonly ContextFile[];
}

/** The repository's own Dockerfile and the folder beside it; undefined when there is no such Dockerfile. */
export async function readRepositorySources(folder: string): Promise<RepositorySources | undefined> {
  const file = path.join(folder, REPOSITORY_DOCKERFILE);
  if ((await kindOf(file)) === 'nothing') return undefined;
  const dockerfile = await readPlain(file);
  const budget = { left: CONTEXT_LIMIT_BYTES };
  const context = path.join(folder, REPOSITORY_CONTEXT);
  const companions = (await kindOf(context)) === 'nothing' ? [] : await readTree(folder, context, budget);
  return { dockerfile: dockerfile.content.toString('utf8'), companions };
}

async function readTree(folder: string, at: string, budget: { left: number }): Promise<ContextFile[]> {
  if ((await kindOf(at)) !== 'folder') {
    const { content, executable } = await readPlain(at);
    budget.left -= content.byteLength;
    if (budget.left < 0) throw tooLarge(at);
    return [contextFile(path.relative(folder, at).split(path.sep).join('/'), content, executable)];
  }
  const names = await readdir(at);
  const files: ContextFile[] = [];
  for (const name of names.toSorted()) files.push(...(await readTree(folder, path.join(at, name), budget)));
  return files;
}

type Kind = 'nothing' | 'file' | 'folder' | 'other';

async function kindOf(file: string): Promise<Kind> {
  try {
    const stat = await lstat(file);
    if (stat.isFile()) return 'file';
    return stat.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'nothing';
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

/** No link is followed: a cloned repository must not carry files of this machine into an image. */
async function readPlain(file: string): Promise<{ content: Buffer; executable: boolean }> {
  const kind = await kindOf(file);
  if (kind !== 'file') throw libErrors.FILE_UNREADABLE({ file, reason: 'it is not a plain file' });
  const { mode } = await lstat(file);
  return { content: await readOrTell(file), executable: (mode & 0o100) !== 0 };
}

async function readOrTell(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

function tooLarge(file: string): AppError {
  return libErrors.USAGE({
    problem: `.mahabharatha/${REPOSITORY_CONTEXT} has more than ${CONTEXT_LIMIT_BYTES / 1024 / 1024} MB (at ${file}).`,
    hint: 'Keep only what .mahabharatha/Dockerfile copies there; let it fetch the rest.',
  });
}
