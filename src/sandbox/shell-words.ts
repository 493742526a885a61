import { createCases } from './shell-cases.ts';
import { createDocuments } from './shell-documents.ts';
import { firstPart, KEYWORDS, nestedTexts, plain, readsInput } from './shell-parts.ts';
import type { Part } from './shell-parts.ts';

/** What is nested deeper is not looked at. */
const DEEPEST = 16;
/** How far the end of a list is looked for. */
const NEAR = 1000;
/** A line that goes on in the next one. */
const CONTINUED = '\\\n';

/** The simple commands of a shell text, each as its words without quotes; also those inside $(…), `…` and (…). */
export function simpleCommands(text: string, depth = 0): string[][] {
  if (depth > DEEPEST) return [];
  const reading = createReading((inner) => simpleCommands(inner, depth + 1));
  for (let at = 0; at < text.length;) at += take(reading, text.slice(at));
  reading.endCommand('');
  return reading.words.commands;
}

type Reading = ReturnType<typeof createReading>;

function createReading(commandsOf: (inner: string) => string[][]) {
  const [words, documents, cases, parentheses] = [createWords(), createDocuments(), createCases(), createParentheses()];
  const inside = (texts: readonly string[]): void => {
    for (const inner of texts) words.commands.push(...commandsOf(inner));
  };
  return {
    words,
    documents,
    cases,
    inside,
    endWord: (): void => {
      words.endWord();
      if (cases.begins(words.whole())) words.endCommand(true);
    },
    endCommand: (rest: string): void => {
      const isName = parentheses.isName(rest, words);
      words.endWord();
      const isCase = cases.begins(words.whole());
      cases.see(words.whole());
      inside(words.endCommand(isName || isCase));
      parentheses.see(rest);
    },
  };
}

/** Returns how much of the text it has read. */
function take(reading: Reading, rest: string): number {
  const { words, documents, cases, inside } = reading;
  const pattern = cases.pattern(rest);
  if (pattern !== undefined) inside(pattern.inner);
  if (pattern !== undefined || rest.startsWith(CONTINUED)) return pattern?.length ?? CONTINUED.length;
  const part = wordsInParentheses(rest, words) ?? testPart(rest, words) ?? firstPart(rest, words.current());
  const sign = rest.slice(0, part.length);
  documents.see(part, sign);
  if (part.kind === 'command end') return takeEnd(reading, rest);
  if (part.kind === 'redirection') words.redirect(sign);
  else if (part.kind === 'word end') reading.endWord();
  else {
    words.add(part.text);
    inside(part.inner);
  }
  return part.length;
}

/** The sign that ends a command, and the here-documents behind a line. */
function takeEnd({ words, documents, cases, inside, endCommand }: Reading, rest: string): number {
  const length = cases.endOfCommands(rest);
  endCommand(rest);
  if (!rest.startsWith('\n')) return Math.max(length, 1);
  const document = documents.take(rest.slice(1), words.endLine());
  inside(document.texts);
  return document.length + 1;
}

function createParentheses() {
  let open = 0;
  return {
    see: (rest: string): void => {
      if (rest.startsWith('(')) open += 1;
      else if (rest.startsWith(')')) open = Math.max(0, open - 1);
    },
    /** What is before a parenthesis that was not opened, or is the name of a function, is no command. */
    isName: (rest: string, words: Words): boolean =>
      rest.startsWith(')') ? open === 0 : /^\([ \t]*\)/.test(rest) && words.isFirst(),
  };
}

type Words = ReturnType<typeof createWords>;

/** A list: a=(b c), a pattern: @(b|c), or a sum: ((a = b)). No word in it is a command. */
function wordsInParentheses(rest: string, words: Words): Part | undefined {
  if (!rest.startsWith('(')) return undefined;
  const current = words.current();
  const isSum = current === undefined && rest.startsWith('((') && /^(for)?$/.test(words.begun().join(' '));
  const isList = current !== undefined && !/^\([ \t]*\)/.test(rest) && (current === '!' || !KEYWORDS.has(current));
  const end = isSum ? rest.slice(0, NEAR).indexOf('))') + 2 : closing(rest);
  if ((!isSum && !isList) || end < 2) return undefined;
  return { kind: 'text', text: '', inner: nestedTexts(rest.slice(0, end)), length: end };
}

/** In [[ … ]] signs compare and group. */
function testPart(rest: string, words: Words): Part | undefined {
  const isOpen = words.begun()[0] === '[[' && !words.whole().includes(']]');
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
  /** What the next word is for, where it is none of the command's. */
  let redirection: string | undefined;
  let given: string | undefined;
  let line: string[][] = [];
  const endWord = (): void => {
    if (word === undefined) return;
    if (redirection === undefined) words.push(word);
    else if (redirection === '<<<') given = word;
    [word, redirection] = [undefined, undefined];
  };
  return {
    commands,
    current: () => word,
    /** Those that are whole. */
    whole: (): readonly string[] => words,
    /** Those of them that do not come before a command. */
    begun: (): readonly string[] => words.slice(countKeywords(words)),
    isFirst: () => words.length + (word === undefined ? 0 : 1) === 1,
    /** The commands of this line. */
    endLine: (): readonly string[][] => line.splice(0),
    add: (text: string): void => void (word = (word ?? '') + text),
    endWord,
    redirect: (sign: string): void => {
      // "2>" begins with the number of a descriptor.
      if (/^\d+$/.test(word ?? '')) word = undefined;
      endWord();
      redirection = sign;
    },
    /** Returns what runs of its input. */
    endCommand: (isName: boolean): string[] => {
      endWord();
      const texts = given !== undefined && readsInput(words) ? [given] : [];
      if (words.length > 0) line.push(words);
      if (words.length > 0 && !isName) commands.push(words);
      [words, redirection, given] = [[], undefined, undefined];
      return texts;
    },
  };
}

function countKeywords(words: readonly string[]): number {
  const count = words.findIndex((word) => !KEYWORDS.has(word));
  return count === -1 ? words.length : count;
}
