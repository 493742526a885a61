import type { FakeProgram } from '../support/fake-container.ts';

interface TestProgram {
  /** For a real container. */
  readonly shell: string;
  /** The same without one. */
  readonly fake: FakeProgram;
}

const UNTIL_KILLED = 'while :; do sleep 0.05; done';

const define = (shell: string, fake: FakeProgram): TestProgram => ({ shell, fake });

/** What the containers of the contract do: a shell script, and the same for the fake engine. */
export const PROGRAMS = {
  twoStreams: define('echo out; echo err >&2; echo more; exit 3', (container) => {
    container.stdout('out\n');
    container.stderr('err\n');
    container.stdout('more\n');
    container.exit(3);
  }),
  fast: define('exit 5', (container) => container.exit(5)),
  success: define('exit 0', (container) => container.exit(0)),
  bytes: define(`head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | tr '\\0' y >&2`, (container) => {
    container.stdout('x'.repeat(3_000_000));
    container.stderr('y'.repeat(3_000_000));
    container.exit(0);
  }),
  cat: define('cat; echo end; exit 4', (container) => {
    container.stdin.on('data', (chunk: Buffer) => container.stdout(chunk.toString()));
    container.stdin.on('end', () => {
      container.stdout('end\n');
      container.exit(4);
    });
  }),
  sleeper: define(`trap 'exit 9' TERM; echo ready; ${UNTIL_KILLED}`, (container) => {
    container.onTerm(() => container.exit(9));
    container.stdout('ready\n');
  }),
  stubborn: define(`trap '' TERM; echo ready; ${UNTIL_KILLED}`, (container) => {
    container.onTerm(() => undefined);
    container.stdout('ready\n');
  }),
  talker: define('echo one; echo two; echo three; read line; echo "$line"; exit 0', (container) => {
    for (const line of ['one\n', 'two\n', 'three\n']) container.stdout(line);
    container.stdin.once('data', (chunk: Buffer) => {
      container.stdout(chunk.toString());
      container.exit(0);
    });
  }),
  hungry: define('x=$(head -c 200000000 /dev/zero | tr "\\0" x); echo "${#x}"', (container) =>
    container.runOutOfMemory(),
  ),
} as const satisfies Record<string, TestProgram>;

/** Runs the program of the fake engine that stands for the container's command. */
export const runFake: FakeProgram = (container) => {
  const program = Object.values(PROGRAMS).find(({ shell }) => shell === container.spec.command.at(-1));
  if (program === undefined) throw new Error(`no program for ${container.spec.command.join(' ')}`);
  program.fake(container);
};
