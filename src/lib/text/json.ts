import type { z } from 'zod';

/** What a JSON text says; undefined when it is no JSON, or not what the schema describes. */
export function readJson<Value>(schema: z.ZodType<Value>, text: string | undefined): Value | undefined {
  try {
    return text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
