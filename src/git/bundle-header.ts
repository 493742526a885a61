import type { FileHandle } from 'node:fs/promises';
import { libErrors } from '../lib/index.ts';

interface BundleHeader {
  /** Refs in the bundle, and the ids that they have there. */
  readonly refs: ReadonlyMap<string, string>;
  /** Where the pack begins. */
  readonly length: number;
}

/** Ours has one ref and one prerequisite. */
const LIMIT_BYTES = 64 * 1024;
const ID = '(?:[0-9a-f]{40}|[0-9a-f]{64})';
const SIGNATURE = /^# v[23] git bundle$/;
/** Not "@filter": a bundle with a filter lacks objects. */
const CAPABILITY = /^@object-format=(sha1|sha256)$/;
const PREREQUISITE = new RegExp(`^-${ID}( .*)?$`);
const NAME = new RegExp(`^(${ID}) (refs/\\S+|HEAD)$`);

/** What a bundle begins with, before its pack: of one branch, for a repository that has the base. */
export function bundleHeader({ branch, base, commit }: { branch: string; base: string; commit: string }): string {
  const isSha256 = commit.length === 64;
  const signature = isSha256 ? '# v3 git bundle\n@object-format=sha256\n' : '# v2 git bundle\n';
  return `${signature}-${base}\n${commit} refs/heads/${branch}\n\n`;
}

/** Reads git's bundle format, as far as our workers write it. Does not change the position of the file. */
export async function readBundleHeader(bundle: FileHandle, file: string): Promise<BundleHeader> {
  const { bytesRead, buffer } = await bundle.read(Buffer.alloc(LIMIT_BYTES), 0, LIMIT_BYTES, 0);
  const text = buffer.toString('latin1', 0, bytesRead);
  const end = text.indexOf('\n\n');
  const [signature = '', ...lines] = text.slice(0, Math.max(0, end)).split('\n');
  const refs = new Map<string, string>();
  const unknown = lines.find((line) => {
    const [, id, name] = NAME.exec(line) ?? [];
    if (id === undefined || name === undefined) return !PREREQUISITE.test(line) && !CAPABILITY.test(line);
    refs.set(Buffer.from(name, 'latin1').toString('utf8'), id);
    return false;
  });
  if (!SIGNATURE.test(signature) || unknown !== undefined) {
    const where = unknown === undefined ? '' : `: unknown line ${JSON.stringify(unknown.slice(0, 80))}`;
    throw libErrors.FILE_UNREADABLE({ file, reason: `it is not a git bundle${where}` });
  }
  return { refs, length: end + 2 };
}
