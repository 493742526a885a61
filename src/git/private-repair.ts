import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import type { WorkspacePlace } from './workspace-repair.ts';

/** What decides in a git directory how git works; the rest are objects, refs and the index. */
const RULING_FILES = ['config', 'shallow', path.join('objects', 'info', 'alternates')];
const RULING_FOLDERS = ['info', 'hooks', path.join('objects', 'info')];
/** A new git directory has none of these, and each changes how git works. */
const ADDED = ['config.worktree', 'commondir', path.join('refs', 'replace')];

/** The rules of a private git directory, as they were before any task. */
export interface PrivateRules {
  /** For our own git there: settings that a task has put into its home do not count. */
  readonly env: Environment;
  restore(): Promise<void>;
}

/** Does nothing for a git directory of the user's: tasks have the user's rights there, and we must not change it. */
export async function rememberRules({ gitDir, commonDir }: Omit<WorkspacePlace, 'pointer'>): Promise<PrivateRules> {
  if (gitDir !== commonDir) return { env: {}, restore: async () => undefined };
  const inInfo = (await readdir(path.join(gitDir, 'info')).catch((): string[] => [])).map((name) =>
    path.join('info', name),
  );
  const files = new Map<string, Buffer>();
  for (const name of [...RULING_FILES, ...inInfo]) {
    const content = await readFile(path.join(gitDir, name)).catch(() => undefined);
    if (content !== undefined) files.set(name, content);
  }
  return {
    env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_NO_REPLACE_OBJECTS: '1' },
    restore: async () => {
      for (const name of [...RULING_FILES, ...RULING_FOLDERS, ...ADDED])
        await rm(path.join(gitDir, name), { recursive: true, force: true });
      for (const [name, content] of files) {
        await makeFolder(path.dirname(path.join(gitDir, name)));
        await writeFile(path.join(gitDir, name), content);
      }
    },
  };
}
