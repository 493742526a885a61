import { digestOf, libErrors, readPlainFiles } from '../lib/index.ts';

/** In `.mahabharatha/`: settings, the Dockerfile of the repository's image, and the folder that it copies from. */
const STEERING = ['config.yaml', 'Dockerfile', 'docker'];
/** The text of a longer file is not kept: its size and digest are shown. */
const SHOWN_BYTES = 256 * 1024;
/** More than an image's files may have together. */
const READ_BYTES = 64 * 1024 * 1024;

/** A file that a run obeys. */
export interface SteeringFile {
  readonly digest: string;
  readonly bytes: number;
  readonly executable: boolean;
  /** Null when it is too long or not text. */
  readonly text: string | null;
}

/** By path below `.mahabharatha/`. */
export type SteeringFiles = Readonly<Record<string, SteeringFile>>;

/** All that a run obeys in the repository, apart from the task graph, which the user names. */
export async function readSteering(top: string): Promise<SteeringFiles> {
  const found: Record<string, SteeringFile> = {};
  for (const name of STEERING) {
    for (const { path, content, executable } of await readPlainFiles(top, name, checkSize)) {
      found[path] = steeringFile(content, executable && path.includes('/'));
    }
  }
  return found;
}

function checkSize(file: string, bytes: number): void {
  if (bytes <= READ_BYTES) return;
  throw libErrors.FILE_UNREADABLE({ file, reason: `it has more than ${READ_BYTES / 1024 / 1024} MB` });
}

/** Pure. */
export function steeringFile(content: Buffer, executable: boolean): SteeringFile {
  const digest = digestOf(content);
  const text = content.byteLength > SHOWN_BYTES || content.includes(0) ? null : content.toString('utf8');
  const whole = text !== null && Buffer.from(text).equals(content);
  return { digest, bytes: content.byteLength, executable, text: whole ? text : null };
}
