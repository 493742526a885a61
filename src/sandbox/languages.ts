/** How programs of one language run. */
export interface Language {
  readonly image: string;
  /** With its dot. */
  readonly extension: string;
  /** "{filepath}" stands for the program's file. */
  readonly command: readonly string[];
}

export type Languages = Readonly<Record<string, Language>>;

/** The arguments for one program. */
export function commandFor({ command }: Language, file: string): readonly [string, ...string[]] {
  const [program = '', ...args] = command.map((part) => part.replaceAll('{filepath}', () => file));
  return [program, ...args];
}
