import { libErrors, readWhole, reasonOf, systemCode } from '../lib/index.ts';
import { taskErrors } from '../tasks/errors.ts';
import { readGraphText } from './graph-text.ts';

interface GraphInFile {
  readonly text: string;
  readonly value: unknown;
  /** The same as plain JSON, for files of ours. */
  readonly json: string;
}

/** Reads the file of a task graph, which may be of any graph. */
export async function readGraph(file: string): Promise<GraphInFile> {
  const text = textOf(await readBytes(file));
  if (text === undefined) throw invalid(file, 'it is not UTF-8 text; save it as UTF-8');
  const read = readGraphText(file, text);
  if (!read.ok) throw taskErrors.GRAPH_INVALID({ file, problems: [...read.problems] }, { cause: read.cause });
  return { text, value: read.value, json: read.json };
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readWhole(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw taskErrors.GRAPH_MISSING({ file });
    if (systemCode(error) === 'EISDIR') throw invalid(file, 'it is a folder; put a file in its place');
    if (systemCode(error) === undefined) throw invalid(file, `${reasonOf(error)}; put a file in its place`);
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

const invalid = (file: string, problem: string): Error => taskErrors.GRAPH_INVALID({ file, problems: [problem] });

/** Without a mark at its beginning; undefined when the bytes are not UTF-8. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
