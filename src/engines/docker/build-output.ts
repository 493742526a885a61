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

interface BuildOutput {
  read(messages: AsyncIterable<BuildMessage>): Promise<void>;
  /** The end of what was printed, for the error. */
  last(): string[];
  result(): { readonly failure: string | undefined; readonly imageId: string | undefined };
}

const KEPT_LINES = 20;
// oxlint-disable-next-line no-control-regex -- colours of the tools that run in a build
const COLOURS = /\u001B\[[0-9;]*[A-Za-z]/g;

export function createBuildOutput(onLine: (line: string) => void): BuildOutput {
  const kept: string[] = [];
  let open = '';
  let failure: string | undefined;
  let imageId: string | undefined;

  const print = (line: string): void => {
    const text = line.replaceAll(COLOURS, '').trimEnd();
    if (text === '') return;
    kept.push(text);
    if (kept.length > KEPT_LINES) kept.shift();
    onLine(text);
  };

  /** Messages are cut anywhere, lines are not. A tool that redraws a line with "\r" has each state of it printed. */
  const printParts = (text: string): void => {
    const lines = (open + text).split(/\r\n|\n|\r/);
    open = lines.pop() ?? '';
    lines.forEach(print);
  };

  const take = (message: BuildMessage): void => {
    if (message.stream !== undefined) printParts(message.stream);
    // A pull says how far it is many times a second: only what has a new state is a line.
    if (message.status !== undefined && message.progressDetail?.current === undefined) {
      print(message.id === undefined ? message.status : `${message.id}: ${message.status}`);
    }
    imageId = message.aux?.ID ?? imageId;
    failure = message.errorDetail?.message ?? message.error ?? failure;
  };

  return {
    read: async (messages) => {
      for await (const message of messages) take(message);
      print(open);
    },
    last: () => [...kept],
    result: () => ({ failure, imageId }),
  };
}
