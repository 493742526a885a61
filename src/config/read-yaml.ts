import { LineCounter, parseDocument, visit } from 'yaml';
import type { Alias, Document, YAMLParseError } from 'yaml';
import { reasonOf } from '../lib/index.ts';

type YamlReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[]; readonly cause?: unknown };

/** The value of a YAML text; null of an empty one. Each problem has its line. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false });
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  if (document.errors.length > 0)
    return { ok: false, problems: document.errors.map((error) => `${placeOf(error.pos[0])}: ${inOurWords(error)}`) };
  // An unquoted star begins an alias: `copy: [*.env]` refers to something that is missing.
  const stars = missing(document).map(
    ({ source, range }) =>
      `${placeOf(range?.[0] ?? 0)}: nothing has the name "${source}" here; put quotes around a text that begins with a star`,
  );
  if (stars.length > 0) return { ok: false, problems: stars };
  try {
    return { ok: true, value: document.toJS() as unknown };
  } catch (error) {
    const isBomb = reasonOf(error).startsWith('Excessive alias count');
    const problem = isBomb ? 'its aliases (*name) make too much of it; write out what they stand for' : reasonOf(error);
    return { ok: false, problems: [problem], cause: error };
  }
}

/** The parser advises programmers. */
function inOurWords({ code, message }: YAMLParseError): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here; remove it, or this line';
  return code === 'DUPLICATE_KEY' ? `${message}; this one is there already, remove one of them` : message;
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
