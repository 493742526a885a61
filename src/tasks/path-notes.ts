import { quote } from '../lib/text/shape.ts';
import type { Draft } from './draft.ts';
import { OWNED, withoutDot } from './owned-files.ts';
import { readPath } from './repository-path.ts';
import { MANY, place } from './words.ts';

/** What is odd about paths, and harmless. */
export function pathNotes(drafts: readonly Draft[]): string[] {
  return drafts.flatMap((draft, task) => [...doubleClaims(draft, task), ...unreadable(draft, task)]).slice(0, MANY);
}

/** A path that a task names in two lists. */
function doubleClaims({ files }: Draft, task: number): string[] {
  const known = new Map<string, string>();
  return OWNED.flatMap((list) =>
    files[list].flatMap((text, position) => {
      const before = known.get(withoutDot(text)) ?? list;
      known.set(withoutDot(text), before);
      if (text === '' || before === list) return [];
      return [`${place(['tasks', task, 'files', list, position])}: ${quote(text)} is in "${before}" as well`];
    }),
  );
}

/** A file that is worth reading may be anywhere: only the prompt of the agent names it. */
function unreadable({ files }: Draft, task: number): string[] {
  return files.read.flatMap((text, position) => {
    const reading = readPath(text);
    if (reading.ok) return [];
    return [
      `${place(['tasks', task, 'files', 'read', position])}: ${quote(text)} ${reading.problem}; workers may not find it`,
    ];
  });
}
