import { statfs } from 'node:fs/promises';

/** What is free for programs on the file system of a folder. */
export async function freeBytesIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
