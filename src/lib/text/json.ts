import type { z } from 'zod';

/** The value of a JSON text; undefined when the text is not JSON, or does not fit the schema. */
export function readJson<Value>(schema: z.ZodType<Value>, text: string | undefined): Value | undefined {
  try {
    return text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
