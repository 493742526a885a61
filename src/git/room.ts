import { open } from 'node:fs/promises';
import path from 'node:path';
import { freeBytesIn, libErrors, reasonOf } from '../lib/index.ts';

/** Throws when the file system of a folder has less room than that; `what` needs it. */
export async function needRoom(folder: string, bytes: number, what: string): Promise<void> {
  const free = await freeBytesIn(folder);
  if (free >= bytes) return;
  const reason = `${what} needs ${megabytes(bytes)} there, and ${megabytes(free)} are free`;
  throw libErrors.FILE_UNWRITABLE({ file: folder, reason });
}

/** Throws when nothing can be written in a folder: a file is written to find out. */
export async function needWritable(folder: string): Promise<void> {
  const file = path.join(folder, 'probe');
  try {
    const probe = await open(file, 'w');
    try {
      await probe.writeFile(Buffer.alloc(64 * 1024, 1));
      // A quota or a network disk may refuse only now.
      await probe.sync();
    } finally {
      await probe.close();
    }
  } catch (error) {
    throw libErrors.FILE_UNWRITABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
