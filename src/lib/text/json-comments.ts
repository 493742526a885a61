const STOP = /["/,]/g;
const IN_STRING = /["\\\n]/g;
const BLANKS = /\s*/y;

/**
 * JSON as people write it, with comments and trailing commas, as plain JSON. What goes is replaced by blanks, so that each
 * place in the text stays where it is. The text is read once, from its beginning to its end: it may come from an agent.
 */
export function withoutComments(text: string): string {
  const parts: string[] = [];
  let [kept, at] = [0, 0];
  const blank = (from: number, to: number): void => {
    parts.push(text.slice(kept, from), text.slice(from, to).replaceAll(/[^\n]/g, ' '));
    kept = to;
  };
  const commentAt = commentFinder(text);
  for (;;) {
    at = next(STOP, text, at);
    if (at === text.length) break;
    const from = at;
    if (text[at] === '"') at = stringEnd(text, at);
    else if (text[at] === ',') {
      at += 1;
      if (/[\]}]/.test(text[afterBlanks(text, at, commentAt)] ?? '')) blank(from, at);
    } else {
      at = commentAt(at) ?? at + 1;
      if (at > from + 1) blank(from, at);
    }
  }
  return [...parts, text.slice(kept)].join('');
}

/** The place of what is searched for; the end of the text when it is not there. */
function next(what: RegExp, text: string, from: number): number {
  what.lastIndex = from;
  return what.exec(text)?.index ?? text.length;
}

/** A string ends on its line; one that does not is no JSON. */
function stringEnd(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    at = next(IN_STRING, text, at);
    if (text[at] !== '\\') return text[at] === '"' ? at + 1 : at;
    at += text[at + 1] === '\n' ? 1 : 2;
  }
}

/** Finds the end of a comment that begins at a place; undefined when none does, or it does not end. */
function commentFinder(text: string): (from: number) => number | undefined {
  const lastEnd = text.lastIndexOf('*/');
  return (from) => {
    if (text.startsWith('//', from)) return next(/\n/g, text, from);
    if (!text.startsWith('/*', from) || lastEnd < from + 2) return undefined;
    return text.indexOf('*/', from + 2) + 2;
  };
}

function afterBlanks(text: string, from: number, commentAt: ReturnType<typeof commentFinder>): number {
  let at = from;
  for (;;) {
    BLANKS.lastIndex = at;
    BLANKS.test(text);
    at = BLANKS.lastIndex;
    const end = commentAt(at);
    if (end === undefined) return at;
    at = end;
  }
}
