import type { Config } from '../config/index.ts';
import { namesPackages } from '../git/index.ts';
import { listed } from '../lib/index.ts';

const SHOWN = 5;

/** Pure. What workers will not find, and whether the set-up needs it. `files`: changed or new, and in no commit. */
export function uncommittedNotes(files: readonly string[], { setup }: Pick<Config['workers'], 'setup'>): string[] {
  const missing = files.filter((file) => !file.startsWith('.mahabharatha/'));
  if (missing.length === 0) return [];
  const packages = setup === undefined ? [] : missing.filter(namesPackages);
  return [
    `workers start from the last commit; not in it: ${listed(missing, SHOWN)}`,
    ...(packages.length === 0
      ? []
      : [`the set-up ("${setup}") works with the last commit, too: commit ${listed(packages, SHOWN)} first`]),
  ];
}
