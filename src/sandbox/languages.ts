/** How programs of one language run. */
export interface Language {
  readonly image: string;
  /** With its dot. */
  readonly extension: string;
  /** "{filepath}" stands for the program's file. */
  readonly command: readonly string[];
}

export type Languages = Readonly<Record<string, Language>>;

/** For a program with files beside it, which Python's option -I would keep it from. */
export function besideOthers(language: Language): Language {
  return { ...language, command: language.command.filter((part, at) => at === 0 || part !== '-I') };
}

/** The arguments for one program. */
export function commandFor({ command }: Language, file: string): readonly [string, ...string[]] {
  const [program = '', ...args] = command.map((part) => part.replaceAll('{filepath}', () => file));
  return [program, ...args];
}
