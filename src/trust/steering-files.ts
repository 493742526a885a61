import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { libErrors, reasonOf, systemCode } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';

/** In `.mahabharatha/`: settings, the recipe of the repository's image, and the folder that the recipe copies from. */
const STEERING = ['config.yaml', 'Dockerfile', 'docker'];
/** Of longer ones size and digest stand for the content. */
const SHOWN_BYTES = 256 * 1024;
/** Far beyond what an image's companions may have together; more is not even read. */
const READ_BYTES = 64 * 1024 * 1024;

/** A file that a run obeys. */
export interface SteeringFile {
  readonly digest: string;
  readonly bytes: number;
  readonly executable: boolean;
  /** Null when it is too long, or no text. */
  readonly text: string | null;
}

/** By path below `.mahabharatha/`. */
export type SteeringFiles = Readonly<Record<string, SteeringFile>>;

/** All that a run obeys of what is in the repository, apart from the task graph that the user asks for by name. */
export async function readSteering(top: string): Promise<SteeringFiles> {
  const found: Record<string, SteeringFile> = {};
  for (const name of STEERING) await readInto(found, top, name);
  return found;
}

async function readInto(found: Record<string, SteeringFile>, top: string, name: string): Promise<void> {
  const file = path.join(top, name);
  const stat = await orTell(file, () => lstat(file));
  if (stat === undefined) return;
  if (stat.isDirectory()) {
    const names = (await orTell(file, () => readdir(file))) ?? [];
    for (const inner of names.toSorted()) await readInto(found, top, `${name}/${inner}`);
    return;
  }
  // A link could lead to a file of the user's, which would then be shown and kept.
  if (!stat.isFile()) throw unreadable(file, 'it is not a plain file');
  if (stat.size > READ_BYTES) throw unreadable(file, `it has more than ${READ_BYTES / 1024 / 1024} MB`);
  const content = await orTell(file, () => readFile(file));
  if (content !== undefined) found[name] = steeringFile(content, (stat.mode & 0o100) !== 0 && name.includes('/'));
}

/** Pure. */
export function steeringFile(content: Buffer, executable: boolean): SteeringFile {
  const digest = createHash('sha256').update(content).digest('hex');
  const text = content.byteLength > SHOWN_BYTES || content.includes(0) ? null : content.toString('utf8');
  const whole = text !== null && Buffer.from(text).equals(content);
  return { digest, bytes: content.byteLength, executable, text: whole ? text : null };
}

async function orTell<Value>(file: string, work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw unreadable(file, reasonOf(error), error);
  }
}

function unreadable(file: string, reason: string, cause?: unknown): AppError {
  return libErrors.FILE_UNREADABLE({ file, reason }, { cause });
}
