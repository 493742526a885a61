import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { libErrors, readPlainFiles, reasonOf } from '../lib/index.ts';
import { contextFile } from './content.ts';
import type { ContextFile } from './content.ts';
import { REPOSITORY_CONTEXT, REPOSITORY_DOCKERFILE } from './repository-image.ts';
import type { PackageImage } from './package-image.ts';

/** A larger folder is a mistake, say node_modules: the Dockerfile should fetch what it needs. */
const CONTEXT_LIMIT_BYTES = 50 * 1024 * 1024;

interface PackageSources {
  readonly recipe: readonly ContextFile[];
  readonly programs: readonly ContextFile[];
}

/** The files of this package that go into an image. */
export async function readPackageSources(
  root: string,
  { dockerfile, scripts, programs }: PackageImage,
): Promise<PackageSources> {
  const read = async (file: string): Promise<ContextFile> =>
    contextFile(file, await readOrThrow(path.join(root, file)));
  return {
    recipe: await Promise.all([dockerfile, ...scripts].map(read)),
    programs: await Promise.all(programs.map(read)),
  };
}

/** Throws FILE_UNREADABLE. */
export async function readOrThrow(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

interface RepositorySources {
  readonly dockerfile: string;
  readonly companions: readonly ContextFile[];
}

/** The repository's own Dockerfile and the folder beside it; undefined when it has no Dockerfile. */
export async function readRepositorySources(folder: string): Promise<RepositorySources | undefined> {
  const [dockerfile] = await readPlainFiles(folder, REPOSITORY_DOCKERFILE, () => undefined);
  if (dockerfile === undefined) return undefined;
  if (dockerfile.path !== REPOSITORY_DOCKERFILE) {
    throw libErrors.FILE_UNREADABLE({ file: path.join(folder, REPOSITORY_DOCKERFILE), reason: 'it is a folder' });
  }
  let left = CONTEXT_LIMIT_BYTES;
  const files = await readPlainFiles(folder, REPOSITORY_CONTEXT, (file, bytes) => {
    left -= bytes;
    if (left >= 0) return;
    throw libErrors.USAGE({
      problem: `.mahabharatha/${REPOSITORY_CONTEXT} has more than ${CONTEXT_LIMIT_BYTES / 1024 / 1024} MB (at ${file}).`,
      hint: 'Keep only what .mahabharatha/Dockerfile copies there; let it fetch the rest.',
    });
  });
  const companions = files.map((file) => contextFile(file.path, file.content, file.executable));
  return { dockerfile: dockerfile.content.toString('utf8'), companions };
}
