/** Variables that are written as "NAME=value". */
export function variablesOf(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = ''] = entry.split('=', 1);
      return [name, entry.slice(name.length + 1)];
    }),
  );
}
