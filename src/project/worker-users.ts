import { readFile } from 'node:fs/promises';
import { containerIdentity } from '../containers/index.ts';
import type { Identity } from '../containers/index.ts';

const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

/** Who works in this user's containers, on this machine. */
export async function findWorkerUsers(): Promise<Identity> {
  const [passwd, group, subuid] = await Promise.all(['/etc/passwd', '/etc/group', '/etc/subuid'].map(read));
  const known = { passwd: passwd ?? '', group: group ?? '', subuid: subuid ?? '' };
  return containerIdentity(process.getuid?.() ?? 0, process.getgid?.() ?? 0, known);
}
