import { line } from '../../lib/index.ts';
import type { SteeringChange } from '../../project/index.ts';
import type { CliContext } from '../command.ts';

const SHOWN_FILES = 30;

/** Steering files are all listed: many other files must not hide one. */
export function showFiles(
  files: readonly string[],
  steering: readonly SteeringChange[],
  { out }: Pick<CliContext, 'out'>,
): void {
  if (steering.length > 0) out(line`Look at these first: tools, or later runs, obey them.\n`);
  for (const { file, what } of steering) out(line`  ${file}  (${what})\n`);
  const listed = new Set(steering.map(({ file }) => file));
  const others = files.filter((file) => !listed.has(file));
  if (steering.length > 0 && others.length > 0) out(line`Beside them:\n`);
  for (const file of others.slice(0, SHOWN_FILES)) out(line`  ${file}\n`);
  if (others.length > SHOWN_FILES) out(line`  … and ${others.length - SHOWN_FILES} more\n`);
}
