import * as z from 'zod/mini';

/** The value of a JSON text; undefined when the text is not JSON, or does not fit the schema. */
export function readJson<Value>(schema: z.core.$ZodType<Value>, text: string | undefined): Value | undefined {
  try {
    return text === undefined ? undefined : z.safeParse(schema, JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
