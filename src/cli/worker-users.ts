import { readFile } from 'node:fs/promises';
import { workerIdentity } from '../launchers/index.ts';

const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

/** Who works in this user's containers, on this machine. */
export async function findWorkerUsers(): Promise<ReturnType<typeof workerIdentity>> {
  const [passwd, group, subuid] = await Promise.all(['/etc/passwd', '/etc/group', '/etc/subuid'].map(read));
  const known = { passwd: passwd ?? '', group: group ?? '', subuid: subuid ?? '' };
  return workerIdentity(process.getuid?.() ?? 0, process.getgid?.() ?? 0, known);
}
