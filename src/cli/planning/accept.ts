import { rename } from 'node:fs/promises';
import { line, printableBlock } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { Project, Written } from '../../project/index.ts';
import type { CliContext } from '../command.ts';

interface Wish {
  readonly replace: boolean;
  readonly json: boolean;
}

/** Shows what a proposal would change, and puts it in its place when the person wants that. Returns where the text is now. */
export async function accept(
  { file, proposed, isUnchanged }: Written,
  project: Project,
  { replace, json }: Wish,
  context: CliContext,
): Promise<string> {
  if (isUnchanged && !json) context.out(line`Nothing changed: the agent proposes what is in ${file}.\n\n`);
  if (proposed === null) return file;
  if (!json) context.out(await difference(project, file, proposed));
  const accepted = replace || (context.terminal && (await context.confirm(line`Put it in the place of ${file}?`)));
  if (accepted) await rename(proposed, file);
  else if (!json)
    context.out(line`It is kept as ${proposed}. To take it: mv ${proposed} ${file}, or ask again with --replace.\n`);
  return accepted ? file : proposed;
}

async function difference({ repository }: Project, before: string, after: string): Promise<Printable> {
  const args = ['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-color', '--', before, after];
  const { stdout } = await repository.git.result(args, { answers: [0, 1] });
  const lines = stdout.split('\n');
  const first = lines.findIndex((text) => text.startsWith('@@'));
  return line`${printableBlock(lines.slice(Math.max(0, first)).join('\n'), '')}\n`;
}
