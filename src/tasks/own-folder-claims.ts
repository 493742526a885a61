import { quote } from '../lib/text/shape.ts';
import { expandBraces } from './braces.ts';
import { nameOf } from './draft.ts';
import type { Draft } from './draft.ts';
import { isInOwnFolder, literalPath, OWN_FOLDER } from './own-folder.ts';
import { OWNED } from './owned-files.ts';
import { readPath } from './repository-path.ts';
import { MANY, place } from './words.ts';

/** What tasks may write in the folder that steers runs: a glob is a problem, a file that is named in full a warning. */
export function ownFolderClaims(drafts: readonly Draft[]): { problems: string[]; warnings: string[] } {
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const [task, { id, files }] of drafts.entries()) {
    for (const list of OWNED) {
      for (const [position, text] of files[list].entries()) {
        if (!readPath(text).ok || !expandBraces(text)?.some(isInOwnFolder)) continue;
        const claim = `${place(['tasks', task, 'files', list, position])}: ${quote(text)}`;
        const problem = claimProblem(literalPath(text));
        if (problem !== undefined) problems.push(`${claim} ${problem}`);
        else warnings.push(`${claim} of ${nameOf(id, task)} steers later runs: this task may change it`);
      }
    }
  }
  return { problems: problems.slice(0, MANY), warnings: warnings.slice(0, MANY) };
}

function claimProblem(path: string | undefined): string | undefined {
  if (path === undefined) return `is a glob over ${OWN_FOLDER}/, which steers later runs; name each file in it`;
  if (path.includes('/')) return undefined;
  return 'is the folder that steers later runs; name each file in it';
}
