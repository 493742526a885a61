import { nestedTexts, readsInput } from './shell-parts.ts';
import type { Part } from './shell-parts.ts';

/** The here-documents of a line: their lines come after it, and are no commands. */
export function createDocuments() {
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
    take: (
      rest: string,
      readers: readonly (readonly string[])[],
    ): { readonly length: number; readonly texts: readonly string[] } => {
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
        if (readers.some(readsInput)) texts.push(lines.join('\n'));
        else if (isPlain) texts.push(...nestedTexts(lines.join('\n')));
      }
      waiting = [];
      return { length, texts };
    },
  };
}
