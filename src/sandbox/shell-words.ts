/** What is nested deeper is not looked at. */
const DEEPEST = 16;
/** How far the end of a list is looked for. */
const NEAR = 1000;

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
  const words = createWords();
  const documents = createDocuments();
  const inside = (texts: readonly string[]): void => {
    for (const inner of texts) words.commands.push(...simpleCommands(inner, depth + 1));
  };
  let open = 0;
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const part = wordsInParentheses(rest, words) ?? testPart(rest, words) ?? firstPart(rest, words.current());
    const sign = text.slice(at, at + part.length);
    at += part.length;
    documents.see(part, sign);
    if (part.kind === 'word end') words.endWord();
    else if (part.kind === 'redirection') words.redirect();
    else if (part.kind === 'command end') {
      // The pattern of a case, or the name of a function, is no command.
      const isName = sign === ')' ? open === 0 : sign === '(' && /^\([ \t]*\)/.test(rest) && words.isFirst();
      words.endCommand(isName);
      open = Math.max(0, open + (sign === '(' ? 1 : sign === ')' ? -1 : 0));
      if (sign !== '\n') continue;
      const { length, texts } = documents.take(text.slice(at), words.last());
      at += length;
      inside(texts);
    } else {
      words.add(part.text);
      inside(part.inner);
    }
  }
  words.endCommand(false);
  return words.commands;
}

type Words = ReturnType<typeof createWords>;

/** A list: a=(b c), a pattern: @(b|c), or a sum: ((a = b)). No word in it is a command. */
function wordsInParentheses(rest: string, words: Words): Part | undefined {
  if (!rest.startsWith('(')) return undefined;
  const isSum = words.current() === undefined && rest.startsWith('((') && /^(for)?$/.test(words.whole().join(' '));
  const isList = words.current() !== undefined && !/^\([ \t]*\)/.test(rest);
  const end = isSum ? rest.slice(0, NEAR).indexOf('))') + 2 : closing(rest);
  if ((!isSum && !isList) || end < 2) return undefined;
  return { kind: 'text', text: '', inner: nestedTexts(rest.slice(0, end)), length: end };
}

/** In [[ … ]] signs compare and group. */
function testPart(rest: string, words: Words): Part | undefined {
  const isOpen = words.whole()[0] === '[[' && !words.whole().includes(']]');
  return isOpen && /^[|&()<>]/.test(rest) ? plain(rest.slice(0, 1), 1) : undefined;
}

/** Behind the parenthesis that ends the first one; 0 when there is none near. */
function closing(rest: string): number {
  let depth = 0;
  for (let at = 0; at < Math.min(rest.length, NEAR); at += 1) {
    if (rest[at] === '(') depth += 1;
    if (rest[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return 0;
}

/** The words of one command after the other. */
function createWords() {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  let isFile = false;
  let last: readonly string[] = [];
  const endWord = (): void => {
    if (word === undefined) return;
    if (!isFile) words.push(word);
    [word, isFile] = [undefined, false];
  };
  return {
    commands,
    current: () => word,
    /** Those that are whole. */
    whole: (): readonly string[] => words,
    isFirst: () => words.length + (word === undefined ? 0 : 1) === 1,
    /** The command before. */
    last: () => last,
    add: (text: string): void => void (word = (word ?? '') + text),
    endWord,
    redirect: (): void => {
      // "2>" begins with the number of a descriptor.
      if (/^\d+$/.test(word ?? '')) word = undefined;
      endWord();
      isFile = true;
    },
    endCommand: (isName: boolean): void => {
      endWord();
      isFile = false;
      if (words.length > 0) last = words;
      if (words.length > 0 && !isName) commands.push(words);
      words = [];
    },
  };
}

/** The here-documents of a line: their lines come after it, and are no commands. */
function createDocuments() {
  let waiting: { readonly end: string; readonly hasTabs: boolean; readonly isPlain: boolean }[] = [];
  let begun: { end: string; hasTabs: boolean; isPlain: boolean } | undefined;
  const finish = (): void => {
    if (begun !== undefined && begun.end !== '') waiting.push(begun);
    begun = undefined;
  };
  return {
    see: (part: Part, sign: string): void => {
      if (part.kind === 'text' && begun !== undefined) {
        begun.end += part.text;
        begun.isPlain &&= sign === part.text;
      } else if (part.kind !== 'word end' || begun?.end !== '') finish();
      if (part.kind === 'redirection' && /^<<-?$/.test(sign))
        begun = { end: '', hasTabs: sign === '<<-', isPlain: true };
    },
    /** What runs of them: $(…) where the end is not quoted, and all of what a shell reads. */
    take: (rest: string, reader: readonly string[]): { readonly length: number; readonly texts: readonly string[] } => {
      const texts: string[] = [];
      let length = 0;
      for (const { end, hasTabs, isPlain } of waiting) {
        const lines: string[] = [];
        for (let isOver = false; !isOver && length < rest.length;) {
          const [line = ''] = /^[^\n]*/.exec(rest.slice(length)) ?? [];
          length += line.length + 1;
          isOver = (hasTabs ? line.replace(/^\t+/, '') : line) === end;
          if (!isOver) lines.push(line);
        }
        if (reader.some((word) => isShell(word))) texts.push(lines.join('\n'));
        else if (isPlain) texts.push(...nestedTexts(lines.join('\n')));
      }
      waiting = [];
      return { length, texts };
    },
  };
}

/** What runs of a text in which quotes mean nothing. */
function nestedTexts(text: string): string[] {
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

/** A program that runs the commands of its input, or of its argument. */
export const isShell = (word: string): boolean => /^(.*\/)?(bash|dash|sh|zsh|ksh)$/.test(word);

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
