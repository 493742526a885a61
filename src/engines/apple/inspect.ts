import { containersIn } from './answers.ts';
import type { FoundContainer } from './answers.ts';
import { refusal } from './cli.ts';
import type { Cli } from './cli.ts';
import { isMissingThing } from './complaints.ts';

/** Undefined when there is no container of exactly this name: old versions find parts of names, too. */
export async function inspectContainer(cli: Cli, id: string): Promise<FoundContainer | undefined> {
  const what = `inspect container ${id}`;
  const answer = await cli.ask({ what, args: ['inspect', id] });
  if (answer.code !== 0) {
    if (isMissingThing(answer.stderr)) return undefined;
    throw refusal({ what }, answer, cli.place);
  }
  return containersIn(answer.stdout, what).find((found) => found.id === id);
}

export async function listContainers(cli: Cli): Promise<FoundContainer[]> {
  const what = 'list containers';
  return containersIn(await cli.tell({ what, args: ['list', '--all', '--format', 'json'] }), what);
}
