import { LineCounter, parseDocument } from 'yaml';
import { reasonOf } from '../lib/index.ts';

type YamlReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[]; readonly cause?: unknown };

/** The value of a YAML text; null of an empty one. Each problem has its line. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => {
      const at = lines.linePos(error.pos[0]);
      return `line ${at.line}, column ${at.col}: ${error.message}`;
    });
    return { ok: false, problems };
  }
  try {
    return { ok: true, value: document.toJS() as unknown };
  } catch (error) {
    // An unquoted star begins an alias: `copy: [*.env]` refers to something that is missing.
    return {
      ok: false,
      problems: [`${reasonOf(error)}; put quotes around a text that begins with a star`],
      cause: error,
    };
  }
}
