/** A part of a shell text: of a word, or what ends a word or a command. `inner` are texts that run by themselves. */
export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly inner: readonly string[]; readonly length: number }
  | { readonly kind: 'word end'; readonly length: number }
  /** The next word is a file, and no word of the command. */
  | { readonly kind: 'redirection'; readonly length: number }
  | { readonly kind: 'command end'; readonly length: number };

/** What runs of a text in which quotes mean nothing. */
export function nestedTexts(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') {
      at += 1;
      continue;
    }
    const nested = /[$`]/.test(text[at] ?? '') ? nestedText(text.slice(at)) : undefined;
    if (nested === undefined) continue;
    found.push(nested.inside);
    at += nested.length - 1;
  }
  return found;
}

/** Words of the shell that come before a command. */
export const KEYWORDS = new Set(['!', '{', 'coproc', 'do', 'elif', 'else', 'if', 'then', 'until', 'while']);

/** A program that runs the commands of its input, or of its argument. */
export const isShell = (word: string): boolean => /^(.*\/)?(bash|dash|sh|zsh|ksh)$/.test(word);

/** Whether a command is a shell that has nothing but its input to run. */
export function readsInput(words: readonly string[]): boolean {
  const at = words.findIndex(isShell);
  const args = words.slice(at + 1);
  return at !== -1 && (args.includes('-s') || args.every((arg) => /^[-+]/.test(arg)));
}

/** `word` is what has come of the word so far. */
export function firstPart(rest: string, word: string | undefined): Part {
  const part = nestedPart(rest) ?? quotedPart(rest) ?? redirectionPart(rest);
  if (part !== undefined) return part;
  const [comment] = (word === undefined && /^#[^\n]*/.exec(rest)) || [];
  if (comment !== undefined) return { kind: 'word end', length: comment.length };
  if (/^[;&|\n(){}]/.test(rest) && !isInWord(rest, word)) return { kind: 'command end', length: 1 };
  return /^[ \t\r]/.test(rest) ? { kind: 'word end', length: 1 } : plain(rest.slice(0, 1), 1);
}

function nestedPart(rest: string): Part | undefined {
  const [, sum] = /^\$\(\(((?:[^()]|\([^()]*\))*)\)\)/.exec(rest) ?? [];
  if (sum !== undefined) return { kind: 'text', text: '', inner: nestedTexts(sum), length: sum.length + 5 };
  const nested = nestedText(rest);
  return nested && { kind: 'text', text: '', inner: [nested.inside], length: nested.length };
}

function quotedPart(rest: string): Part | undefined {
  if (rest.startsWith('"')) return doubleQuoted(rest);
  if (rest.startsWith('\\')) return plain(rest[1] === '\n' ? '' : (rest[1] ?? ''), 2);
  const [, ansi] = /^\$'((?:[^'\\]|\\[^])*)'/.exec(rest) ?? [];
  if (ansi !== undefined) return plain(ansi, ansi.length + 3);
  const [, quoted] = /^'([^']*)'/.exec(rest) ?? [];
  return quoted === undefined ? undefined : plain(quoted, quoted.length + 2);
}

function redirectionPart(rest: string): Part | undefined {
  const [sign] = /^(<<<|<<-?|<>|<&|>>|>&|>\||&>>?|[<>])/.exec(rest) ?? [];
  return sign === undefined ? undefined : { kind: 'redirection', length: sign.length };
}

export const plain = (text: string, length: number): Part => ({ kind: 'text', text, inner: [], length });

/** A brace or an ampersand can be a part of a word: {a,b}, 2>&1. */
function isInWord(rest: string, word: string | undefined): boolean {
  if (/^[{}]/.test(rest)) return word !== undefined || /^\{\S/.test(rest);
  return /^&\d/.test(rest);
}

/** Of what is quoted at the beginning; 0 for what is not, or has no end. */
export function quotedLength(rest: string): number {
  const [quoted = ''] = /^(?:\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*")/.exec(rest) ?? [];
  return quoted.length;
}

/** $(…) and `…`, which run a text of their own. */
export function nestedText(rest: string): { readonly inside: string; readonly length: number } | undefined {
  const [ticks] = /^`(?:[^`\\]|\\[^])*`/.exec(rest) ?? [];
  if (ticks !== undefined) return { inside: ticks.slice(1, -1).replaceAll(/\\([`\\$])/g, '$1'), length: ticks.length };
  if (!/^\$\((?!\()/.test(rest)) return undefined;
  let depth = 0;
  for (let at = 1; at < rest.length; at += 1) {
    const quoted = quotedLength(rest.slice(at));
    if (quoted > 0) at += quoted - 1;
    else if (rest[at] === '(') depth += 1;
    else if (rest[at] === ')') depth -= 1;
    if (depth === 0) return { inside: rest.slice(2, at), length: at + 1 };
  }
  return { inside: rest.slice(2), length: rest.length };
}

function doubleQuoted(rest: string): Part {
  const inner: string[] = [];
  let text = '';
  for (let at = 1; at < rest.length; at += 1) {
    if (rest[at] === '"') return { kind: 'text', text, inner, length: at + 1 };
    const nested = /[$`]/.test(rest[at] ?? '') ? nestedText(rest.slice(at)) : undefined;
    if (nested !== undefined) {
      inner.push(nested.inside);
      at += nested.length - 1;
    } else if (rest[at] === '\\' && /["\\$`\n]/.test(rest[at + 1] ?? '')) {
      text += rest[at + 1];
      at += 1;
    } else text += rest[at];
  }
  return { kind: 'text', text, inner, length: rest.length };
}
