import type * as z from 'zod/mini';

/** A line of an agent's JSON output: an event that we know, null for another one, or the text when it is not JSON. */
export function parseEvent<Event>(schema: z.ZodMiniType<Event>, line: string): Event | string | null {
  // Saves the cost of an error for each of very many other lines.
  if (!line.trimStart().startsWith('{')) return line;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return line;
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : null;
}
