/** What is nested deeper is not looked at. */
const DEEPEST = 16;

/** A part of a shell text: of a word, or what ends a word or a command. `inner` are texts that run by themselves. */
type Part =
  | { readonly kind: 'text'; readonly text: string; readonly inner: readonly string[]; readonly length: number }
  | { readonly kind: 'word end'; readonly length: number }
  /** The next word is a file, and no word of the command. */
  | { readonly kind: 'redirection'; readonly length: number }
  | { readonly kind: 'command end'; readonly length: number };

/** The simple commands of a shell text, each as its words without quotes; also those inside $(…), `…` and (…). */
export function simpleCommands(text: string, depth = 0): string[][] {
  if (depth > DEEPEST) return [];
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  let isFile = false;
  const endWord = (): void => {
    if (word === undefined) return;
    if (!isFile) words.push(word);
    [word, isFile] = [undefined, false];
  };
  const endCommand = (): void => {
    endWord();
    isFile = false;
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (let at = 0; at < text.length;) {
    const part = firstPart(text.slice(at), word);
    at += part.length;
    if (part.kind === 'command end') endCommand();
    else if (part.kind === 'word end') endWord();
    else if (part.kind === 'redirection') {
      // "2>" begins with the number of a descriptor.
      if (/^\d+$/.test(word ?? '')) word = undefined;
      endWord();
      isFile = true;
    } else {
      word = (word ?? '') + part.text;
      for (const inner of part.inner) commands.push(...simpleCommands(inner, depth + 1));
    }
  }
  endCommand();
  return commands;
}

/** `word` is what has come of the word so far. */
function firstPart(rest: string, word: string | undefined): Part {
  const part = nestedPart(rest) ?? quotedPart(rest) ?? redirectionPart(rest);
  if (part !== undefined) return part;
  const [comment] = (word === undefined && /^#[^\n]*/.exec(rest)) || [];
  if (comment !== undefined) return { kind: 'word end', length: comment.length };
  if (/^[;&|\n(){}]/.test(rest) && !isInWord(rest, word)) return { kind: 'command end', length: 1 };
  return /^[ \t\r]/.test(rest) ? { kind: 'word end', length: 1 } : plain(rest.slice(0, 1), 1);
}

function nestedPart(rest: string): Part | undefined {
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
  const [sign] = /^(<<<|<<-?|<>|<&|>>|>&|>\||[<>])/.exec(rest) ?? [];
  return sign === undefined ? undefined : { kind: 'redirection', length: sign.length };
}

const plain = (text: string, length: number): Part => ({ kind: 'text', text, inner: [], length });

/** A brace or an ampersand can be a part of a word: {a,b}, 2>&1. */
function isInWord(rest: string, word: string | undefined): boolean {
  if (/^[{}]/.test(rest)) return word !== undefined || /^\{\S/.test(rest);
  return /^&\d/.test(rest);
}

/** $(…) and `…`, which run a text of their own. */
function nestedText(rest: string): { readonly inside: string; readonly length: number } | undefined {
  const [ticks] = /^`(?:[^`\\]|\\[^])*`/.exec(rest) ?? [];
  if (ticks !== undefined) return { inside: ticks.slice(1, -1).replaceAll(/\\([`\\$])/g, '$1'), length: ticks.length };
  if (!/^\$\((?!\()/.test(rest)) return undefined;
  let depth = 0;
  for (let at = 1; at < rest.length; at += 1) {
    if (rest[at] === '(') depth += 1;
    if (rest[at] === ')') depth -= 1;
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
