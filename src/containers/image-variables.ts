import type { ContainerSpec, Engine } from '../engines/index.ts';

/** Takes away what an image sets: NODE_OPTIONS and its kin would run the image's code in our programs. */
export async function withoutVariables(engine: Engine, image: string): Promise<ContainerSpec['env']> {
  return cleared(await variablesOf(engine, image));
}

/** What an image sets for the programs that are run in it. */
export async function variablesOf(engine: Engine, image: string): Promise<Readonly<Record<string, string>>> {
  return (await engine.inspectImage(image))?.env ?? {};
}

export function cleared(variables: Readonly<Record<string, string>>): ContainerSpec['env'] {
  return Object.fromEntries(Object.keys(variables).map((name) => [name, null]));
}
