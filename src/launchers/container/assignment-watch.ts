import { statSync } from 'node:fs';
import path from 'node:path';

/** How often the disk is asked at most: this is called for each line of output. */
const LOOK_MS = 100;

/** Names the assignment that a worker has now, by its file. Only the host writes it, as a new file for each assignment. */
export function assignmentWatch(inbox: string): () => string {
  const file = path.join(inbox, 'assignment.json');
  let [name, at] = ['', Number.NEGATIVE_INFINITY];
  return () => {
    const now = performance.now();
    if (now - at < LOOK_MS) return name;
    const facts = statSync(file, { throwIfNoEntry: false });
    [name, at] = [facts === undefined ? '' : `${facts.ino} ${facts.mtimeMs}`, now];
    return name;
  };
}
