import { z } from 'zod';

interface Place {
  readonly properties?: Readonly<Record<string, Place>>;
  readonly additionalProperties?: Place | boolean;
  readonly items?: Place;
}

/** The keys that there are at a place of a file. */
export function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let place: Place | undefined = z.toJSONSchema(schema, { io: 'input' }) as Place;
  for (const step of path) place = inside(place, step);
  return Object.keys(place?.properties ?? {});
}

function inside(place: Place | undefined, step: PropertyKey): Place | undefined {
  if (typeof step === 'number') return place?.items;
  const { additionalProperties: others } = place ?? {};
  return place?.properties?.[String(step)] ?? (typeof others === 'object' ? others : undefined);
}
