import { KEYWORDS, nestedText, nestedTexts, quotedLength } from './shell-parts.ts';

interface Pattern {
  readonly length: number;
  /** What runs of it. */
  readonly inner: readonly string[];
  /** There was no further pattern, but the end of the case. */
  readonly isEnd: boolean;
}

/** Where a text is in its `case … esac`: the words of a pattern are no commands. */
export function createCases() {
  const open: ('pattern' | 'commands')[] = [];
  const become = (next: 'pattern' | 'commands'): void => void open.splice(-1, 1, next);
  return {
    /** The pattern that comes next; undefined when none does. */
    pattern: (rest: string): Pattern | undefined => {
      if (open.at(-1) !== 'pattern') return undefined;
      const found = patternAt(rest);
      if (found.isEnd) open.pop();
      else become('commands');
      return found;
    },
    /** Whether these words of a command begin a case. */
    begins: (words: readonly string[]): boolean => {
      const [first, , third] = words.slice(words.findIndex((word) => !KEYWORDS.has(word)));
      const isCase = first === 'case' && third === 'in' && words.at(-3) === first;
      if (isCase) open.push('pattern');
      return isCase;
    },
    /** The length of the sign that ends the commands of a pattern; 0 when there is none. */
    endOfCommands: (rest: string): number => {
      const [sign = ''] = (open.at(-1) === 'commands' && /^(;;&|;;|;&)/.exec(rest)) || [];
      if (sign !== '') become('pattern');
      return sign.length;
    },
    /** A command of these words has ended. */
    see: ([first]: readonly string[]): void => {
      if (first === 'esac' && open.at(-1) === 'commands') open.pop();
    },
  };
}

function patternAt(rest: string): Pattern {
  const [blank = ''] = /^(?:[ \t\r\n]+|#[^\n]*)*/.exec(rest) ?? [];
  const [end] = /^esac(?![^\s;&|)<>])/.exec(rest.slice(blank.length)) ?? [];
  if (end !== undefined) return { length: blank.length + end.length, inner: [], isEnd: true };
  const begin = blank.length + (rest[blank.length] === '(' ? 1 : 0);
  let depth = 0;
  let at = begin;
  for (; at < rest.length; at += 1) {
    const skipped = nestedText(rest.slice(at))?.length ?? quotedLength(rest.slice(at));
    if (skipped > 0) at += skipped - 1;
    else if (rest[at] === '(') depth += 1;
    else if (rest[at] === ')') depth -= 1;
    if (depth < 0) break;
  }
  return { length: at + 1, inner: nestedTexts(rest.slice(begin, at)), isEnd: false };
}
