/** One line of the engine's answer to a build. */
export interface BuildMessage {
  readonly stream?: string;
  readonly status?: string;
  readonly id?: string;
  readonly progressDetail?: { readonly current?: number };
  readonly errorDetail?: { readonly message?: string };
  readonly error?: string;
  readonly aux?: { readonly ID?: string };
}

interface BuildResult {
  readonly failure: string | undefined;
  readonly imageId: string | undefined;
  /** The last lines of the output, for the error. */
  readonly last: readonly string[];
}

const KEPT_LINES = 20;
/** A line without an end would be held as a whole, and be split again with each message. */
const LONGEST_LINE = 32_768;
// oxlint-disable-next-line no-control-regex -- colours of the tools that run in a build
const COLOURS = /\u001B\[[0-9;]*[A-Za-z]/g;

/** Reads the engine's answer to its end. */
export async function readBuild(
  messages: AsyncIterable<BuildMessage>,
  onLine: (line: string) => void,
): Promise<BuildResult> {
  const last: string[] = [];
  let open = '';
  let failure: string | undefined;
  let imageId: string | undefined;

  const print = (line: string): void => {
    const text = line.replaceAll(COLOURS, '').trimEnd();
    if (text === '') return;
    last.push(text);
    if (last.length > KEPT_LINES) last.shift();
    onLine(text);
  };

  /** A message may end within a line. Of a line that a tool redraws with "\r", each state is printed. */
  const printParts = (text: string): void => {
    const lines = (open + text).split(/\r\n|\n|\r/);
    open = lines.pop() ?? '';
    lines.forEach(print);
    if (open.length <= LONGEST_LINE) return;
    print(open);
    open = '';
  };

  for await (const { stream, status, id, progressDetail, aux, errorDetail, error } of messages) {
    if (stream !== undefined) printParts(stream);
    // A pull reports its percentage many times a second: only a new state is a line.
    if (status !== undefined && progressDetail?.current === undefined) {
      print(id === undefined ? status : `${id}: ${status}`);
    }
    imageId = aux?.ID ?? imageId;
    failure = errorDetail?.message ?? error ?? failure;
  }
  print(open);
  return { failure, imageId, last };
}
