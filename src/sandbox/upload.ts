import { createHash } from 'node:crypto';
import { hasCode } from '../lib/index.ts';
import { sandboxErrors } from './errors.ts';
import { inside } from './paths.ts';
import { reasonInWords } from './ask-files.ts';
import type { AskFiles } from './ask-files.ts';

/** Below the longest frame, also as base64. */
const PART_BYTES = 512 * 1024;
/** Of a frame with several files. */
const BATCH_BYTES = 768 * 1024;
/** What is said of a file beside its path and its content. */
const FACTS_BYTES = 150;
/** Calls on the way to the agent at a time: it need not wait for the host. */
const AT_A_TIME = 8;

export interface ChangedFile {
  readonly path: string;
  /** Null: the client believes that the file is there with this hash. */
  readonly content: Buffer | null;
  readonly sha256: string | undefined;
  readonly executable: boolean;
}

export interface Changes {
  readonly files: readonly ChangedFile[];
  readonly removed: readonly string[];
}

export interface Uploaded {
  readonly written: readonly string[];
  readonly deleted: readonly string[];
  /** Those of which only a hash came, and whose content is not there. */
  readonly needed: readonly string[];
  readonly failed: readonly Failed[];
}

interface Failed {
  readonly path: string;
  readonly reason: string;
}

interface Placed extends ChangedFile {
  readonly place: string;
}

interface Written extends Placed {
  readonly content: Buffer;
}

/**
 * Removes, then writes. What is wrong with the request itself is found before anything is done (PATH_REFUSED). When something
 * cannot be done, the rest is done all the same.
 */
export async function uploadTo(ask: AskFiles, root: string, { files, removed }: Changes): Promise<Uploaded> {
  const placed = files.map((file) => ({ ...file, place: inside(root, file.path) }));
  const goes = removed.map((path) => ({ path, place: inside(root, path) }));
  checkTwice(placed);
  checkHashes(files);
  const failed: Failed[] = [];
  const deleted: string[] = [];
  for (const { path, place } of goes) {
    const reason = await reasonOfFailure(ask(path, { op: 'remove', path: place }));
    if (reason === undefined) deleted.push(path);
    else failed.push({ path, reason });
  }
  const needed = await missing(ask, placed);
  const written: string[] = [];
  await inParallel(
    inBatches(placed.filter(hasContent), ({ content }) => content.length * 1.4),
    async (batch) => {
      const reasons = await write(ask, batch);
      for (const [index, { path }] of batch.entries()) {
        const reason = reasons[index];
        if (reason === undefined) written.push(path);
        else failed.push({ path, reason });
      }
    },
  );
  return { written, deleted, needed, failed };
}

/** Undefined when it has not failed. */
async function reasonOfFailure(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (hasCode(error, sandboxErrors.FILE_MISSING)) return 'there is no such file';
    if (!hasCode(error, sandboxErrors.PATH_REFUSED)) throw error;
    return error.facts.reason;
  }
}

function checkTwice(files: readonly Placed[]): void {
  const places = new Set<string>();
  for (const { path, place } of files) {
    if (places.has(place)) throw sandboxErrors.PATH_REFUSED({ path, reason: 'the request names it twice' });
    places.add(place);
  }
}

function checkHashes(files: readonly ChangedFile[]): void {
  for (const { path, content, sha256 } of files) {
    if (content === null || sha256 === undefined) continue;
    if (createHash('sha256').update(content).digest('hex') === sha256) continue;
    throw sandboxErrors.PATH_REFUSED({ path, reason: 'its content does not have the sha256 that is given' });
  }
}

/** Paths, as the client has named them, of files whose content is not known here. */
async function missing(ask: AskFiles, files: readonly Placed[]): Promise<string[]> {
  const asked = files.flatMap((file) =>
    file.content === null && file.sha256 !== undefined ? [{ ...file, sha256: file.sha256 }] : [],
  );
  const named = new Map(files.map(({ path, place }) => [place, path]));
  const needed: string[] = [];
  for (const batch of inBatches(asked, () => 0)) {
    let rest = batch.map(({ place, sha256, executable }) => ({ path: place, sha256, mode: modeOf(executable) }));
    while (rest.length > 0) {
      const answer = await ask('', { op: 'match', files: rest });
      needed.push(...(answer.needed ?? []).flatMap((place) => named.get(place) ?? []));
      rest = rest.slice(Math.max(1, answer.done ?? 0));
    }
  }
  return needed;
}

/** What goes to the agent in one frame: as many as fit, or one. */
function inBatches<File extends { readonly place: string }>(
  files: readonly File[],
  bytesOf: (file: File) => number,
): File[][] {
  const batches: File[][] = [];
  let room = 0;
  for (const file of files) {
    // Quotes and the like take two characters.
    const bytes = bytesOf(file) + Buffer.byteLength(JSON.stringify(file.place)) + FACTS_BYTES;
    if (bytes > room) {
      batches.push([]);
      room = BATCH_BYTES;
    }
    batches.at(-1)?.push(file);
    room -= bytes;
  }
  return batches;
}

const hasContent = (file: Placed): file is Written => file.content !== null;

/** For each file why it could not be written; undefined when it was. */
async function write(ask: AskFiles, batch: readonly Written[]): Promise<(string | undefined)[]> {
  const [first] = batch;
  if (first !== undefined && first.content.length > PART_BYTES)
    return [await reasonOfFailure(writeInParts(ask, first))];
  const files = batch.map(({ place, content, executable }) => ({
    path: place,
    content: content.toString('base64'),
    mode: modeOf(executable),
  }));
  const { errors = [] } = await ask('', { op: 'write-whole', files });
  return errors.map((error) => (error === null ? undefined : reasonInWords(error)));
}

let uploads = 0;

async function writeInParts(ask: AskFiles, { path, place, content, executable }: Written): Promise<void> {
  uploads += 1;
  const upload = uploads;
  const mode = modeOf(executable);
  for (let at = 0; at < content.length; at += PART_BYTES) {
    const part = content.subarray(at, at + PART_BYTES).toString('base64');
    const last = at + PART_BYTES >= content.length;
    await ask(path, { op: 'write', path: place, upload, content: part, more: at > 0, last, mode });
  }
}

const modeOf = (executable: boolean): number => (executable ? 0o755 : 0o644);

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const lane = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
}
