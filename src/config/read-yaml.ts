import { LineCounter, parseDocument, visit } from 'yaml';
import type { Alias, Document } from 'yaml';
import { reasonOf } from '../lib/index.ts';

type YamlReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[]; readonly cause?: unknown };

/** The value of a YAML text; null of an empty one. Each problem has its line. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  if (document.errors.length > 0)
    return { ok: false, problems: document.errors.map((error) => `${placeOf(error.pos[0])}: ${error.message}`) };
  // An unquoted star begins an alias: `copy: [*.env]` refers to something that is missing.
  const stars = missing(document).map(
    ({ source, range }) =>
      `${placeOf(range?.[0] ?? 0)}: nothing has the name "${source}" here; put quotes around a text that begins with a star`,
  );
  if (stars.length > 0) return { ok: false, problems: stars };
  try {
    return { ok: true, value: document.toJS() as unknown };
  } catch (error) {
    return { ok: false, problems: [reasonOf(error)], cause: error };
  }
}

/** Aliases to what is not there. */
function missing(document: Document): Alias[] {
  const found: Alias[] = [];
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) === undefined) found.push(alias);
    },
  });
  return found;
}
