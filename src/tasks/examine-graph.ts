import { describeCycles, linkDependencies, walk } from './dependencies.ts';
import type { Need } from './dependencies.ts';
import { readDrafts } from './draft.ts';
import type { Draft } from './draft.ts';
import { checkIds } from './ids.ts';
import { assignLevels } from './levels.ts';
import { ownFolderClaims } from './own-folder-claims.ts';
import { pathNotes } from './path-notes.ts';
import { readShape } from './read-shape.ts';
import type { GraphFile } from './schema.ts';
import { sharedFiles } from './shared-files.ts';
import type { Ownership, SharedFiles } from './shared-files.ts';
import { unknownKeys } from './unknown-keys.ts';

/** All that is to be known of the value in the file of a graph. */
export interface Examined {
  /** Undefined when a place of the file is wrong by itself. */
  readonly file: GraphFile | undefined;
  readonly drafts: readonly Draft[];
  readonly needs: readonly (readonly Need[])[];
  /** By index of the task. */
  readonly levels: readonly number[];
  /** What only a person can mend. */
  readonly problems: readonly string[];
  readonly shared: SharedFiles;
  readonly warnings: readonly string[];
}

export function examineGraph(value: unknown, ownership: Ownership): Examined {
  const { file, problems } = readShape(value);
  const drafts = readDrafts(value);
  const keys = unknownKeys(value);
  const { needs, ...links } = linkDependencies(drafts);
  const { order, cycles } = walk(needs);
  const { levels, warnings } = assignLevels(drafts, needs, order);
  const own = ownFolderClaims(drafts);
  const shared = sharedFiles({ drafts, levels, needs: cycles.length === 0 ? needs : [] }, ownership);
  return {
    file,
    drafts,
    needs,
    levels,
    problems: [
      ...problems,
      ...keys.problems,
      ...checkIds(drafts),
      ...links.problems,
      ...describeCycles(drafts, cycles),
      ...own.problems,
    ],
    shared,
    warnings: [
      ...keys.warnings,
      ...links.warnings,
      ...warnings,
      ...pathNotes(drafts),
      ...own.warnings,
      ...shared.warnings,
    ],
  };
}
