import { statSync } from 'node:fs';
import path from 'node:path';

/** So often at most the disk is asked: a flood of lines asks at each of them. */
const LOOK_MS = 100;

/** Names the assignment that a worker has now, by the file that only the host writes: each one is a new file. */
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
