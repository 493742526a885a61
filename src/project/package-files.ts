import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { libErrors } from '../lib/index.ts';

/** The folder that has docker/. How far up it is depends on whether this program is bundled. */
export function packageRoot(): string {
  const start = path.dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'docker', 'worker.Dockerfile'))) return folder;
    if (folder === path.dirname(folder)) {
      throw libErrors.FILE_UNREADABLE({
        file: 'docker/worker.Dockerfile',
        reason: `it is nowhere above ${start}`,
      });
    }
  }
}

/** What `mahabharatha` on the PATH leads to. */
export function launchFile(): string {
  return path.join(packageRoot(), 'bin', 'mahabharatha.js');
}

/** A program of this package that is started as a process of its own, or by a browser. */
export function programFile(name: 'worker' | 'sweeper' | 'page' | 'preload'): string {
  return path.join(packageRoot(), 'dist', 'bundle', name, `${name}.js`);
}

/** A schema that editors read. */
export const schemaFile = (name: 'config.schema.json' | 'task-graph.schema.json'): string =>
  path.join(packageRoot(), 'schemas', name);
