import type { FileEntry } from '../protocol/index.ts';
import { askFiles } from './ask-files.ts';
import type { AskFiles } from './ask-files.ts';
import { sandboxErrors } from './errors.ts';
import { inside } from './paths.ts';
import type { Sandbox } from './sandbox.ts';
import { uploadTo } from './upload.ts';
import type { Changes, Uploaded } from './upload.ts';

/** Of the paths of one listing: those in deep folders are long. */
const LISTED_CHARS = 4 * 1024 * 1024;
/** More than an agent that keeps to its own limits sends. */
const MOST_PAGES = 1000;
const MOST_ENTRIES = 20_000;
/** What an entry takes beside its path. */
const ENTRY_BYTES = 200;
/** Below the longest frame, also as base64. */
const PART_BYTES = 512 * 1024;

export type WorkspaceFiles = ReturnType<typeof workspaceFiles>;

export interface FilePart {
  readonly content: Buffer;
  /** Of the whole file. */
  readonly size: number;
}

/** The files of a session, seen from the host. Every path is checked here, and again inside, where no link is followed. */
export function workspaceFiles(sandbox: Pick<Sandbox, 'files' | 'uid'>, root: string) {
  const ask = askFiles(sandbox, root, sandbox.uid);
  return {
    upload: (changes: Changes): Promise<Uploaded> => uploadTo(ask, root, changes),
    /** At most `limitBytes` of it, from an offset on. */
    read: (file: string, from: number, limitBytes: number, take: Take = takeAll): Promise<FilePart> =>
      read(ask, { named: file, path: inside(root, file) }, { from, limitBytes }, take),
    /** What is in a folder and below, in order; the whole workspace by default. */
    list: (folder: string | undefined, take: Take = takeAll): Promise<FileEntry[]> =>
      list(ask, { named: folder ?? '.', path: folder === undefined ? root : inside(root, folder) }, take),
  };
}

/** Counts bytes as they come into memory. An error that it throws ends the reading. */
type Take = (bytes: number) => void;
const takeAll: Take = () => undefined;

interface Place {
  /** As the client has it. */
  readonly named: string;
  readonly path: string;
}

async function read(
  ask: AskFiles,
  { named, path }: Place,
  { from: first, limitBytes }: { readonly from: number; readonly limitBytes: number },
  take: Take,
): Promise<FilePart> {
  const parts: Buffer[] = [];
  let size = 0;
  for (let from = first; from < first + limitBytes; from += PART_BYTES) {
    const bytes = Math.min(PART_BYTES, first + limitBytes - from);
    const answer = await ask(named, { op: 'read', path, from, bytes });
    const part = Buffer.from(answer.content ?? '', 'base64');
    take(part.length);
    parts.push(part);
    size = answer.size ?? 0;
    if (from + bytes >= size || part.length === 0) break;
  }
  return { content: Buffer.concat(parts), size };
}

async function list(ask: AskFiles, { named, path }: Place, take: Take): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  let walk: number | null = null;
  let chars = 0;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page: Awaited<ReturnType<AskFiles>> = await ask(named, { op: 'list', path, walk });
    const found = page.entries ?? [];
    const more = found.reduce((sum, entry) => sum + entry.path.length + (entry.problem?.length ?? 0), 0);
    take(more + found.length * ENTRY_BYTES);
    chars += more;
    if (chars > LISTED_CHARS) throw tooLarge(`its paths have more than ${LISTED_CHARS} characters together`);
    if (entries.length + found.length > MOST_ENTRIES) throw tooLarge(`it has more than ${MOST_ENTRIES} entries`);
    entries.push(...found);
    walk = page.walk ?? null;
    if (walk === null) return entries.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }
  throw tooLarge('its listing has no end');
}

const tooLarge = (reason: string): Error => sandboxErrors.TREE_TOO_LARGE({ reason });
