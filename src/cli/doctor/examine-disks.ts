import { access, constants, statfs } from 'node:fs/promises';
import path from 'node:path';
import { inBytes, reasonOf } from '../../lib/index.ts';
import type { Project } from '../../project/index.ts';
import { checkRunPlace } from '../../state/index.ts';
import { attempt, fine } from './finding.ts';
import type { Finding } from './finding.ts';

const LOW_DISK_BYTES = 1024 ** 3;

/** The workers' folder may be on another disk than the repository. */
export async function checkWorkersFolder({ repository, paths }: Project): Promise<Finding[]> {
  const { top } = paths.placeOf('');
  const asked = await attempt("workers' folder", () => checkRunPlace(repository.root, { top }));
  if ('problem' in asked) return [asked.problem];
  return [fine("workers' folder", top), await checkDisk('disk of workers', top)];
}

/** The folder itself, or the first one above it that is there. */
async function nearest(folder: string): Promise<string> {
  return access(folder).then(
    () => folder,
    () => nearest(path.dirname(folder)),
  );
}

/** The disk where a folder is, or will be. */
export async function checkDisk(what: string, wanted: string): Promise<Finding> {
  const folder = await nearest(wanted);
  const reason = await access(`${folder}/.`, constants.W_OK).then(() => undefined, reasonOf);
  if (reason !== undefined) {
    const remedy = 'Repair its rights or the disk: runs write there.';
    return { what, state: 'bad', found: `${folder} cannot be written: ${reason}`, remedy };
  }
  const { bavail, bsize } = await statfs(folder);
  const free = `${inBytes(bavail * bsize)} free`;
  if (bavail * bsize >= LOW_DISK_BYTES) return fine(what, free);
  return { what, state: 'bad', found: free, remedy: 'Make room: every worker has a checkout of its own.' };
}
