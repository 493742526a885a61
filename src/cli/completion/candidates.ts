import type { CommandDefinition } from '../command.ts';

/** What of a project can be named; it is asked for only when it is needed. */
export interface Names {
  features(): Promise<readonly string[]>;
  /** Of the feature that the line names, or of the only one. */
  tasks(feature: string | undefined): Promise<readonly string[]>;
  workers(feature: string | undefined): Promise<readonly string[]>;
}

type Definitions = readonly CommandDefinition[];

/** Values of options that are always the same. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  '--agent': ['claude', 'codex', 'gemini', 'opencode', 'shell'],
  '--mode': ['auto', 'container', 'subprocess'],
  '--format': ['json', 'mermaid', 'text'],
  '--print-config': ['claude', 'codex', 'cursor', 'vscode'],
};
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  shell: ['bash', 'fish', 'zsh'],
  action: ['end'],
};

/** What may stand in the place of the last word. Nothing: the shell completes names of files. */
export async function candidates(words: readonly string[], commands: Definitions, names: Names): Promise<string[]> {
  const [verb = '', ...rest] = words;
  const last = words.at(-1) ?? '';
  const found = words.length < 2 ? verbs(commands) : await ofCommand(verb, rest, commands, names);
  return [...new Set(found)].filter((word) => word.startsWith(last)).toSorted();
}

const verbs = (commands: Definitions): string[] =>
  commands.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias]));

async function ofCommand(
  verb: string,
  rest: readonly string[],
  commands: Definitions,
  names: Names,
): Promise<readonly string[]> {
  const command = commands.find(({ name, alias }) => name === verb || alias === verb);
  if (command === undefined || rest.slice(0, -1).includes('--')) return [];
  const flags = flagsOf(command);
  const [before = '', last = ''] = [rest.at(-2), rest.at(-1)];
  const value = flags.find((flag) => flag.takesValue && flag.names.includes(before));
  if (value !== undefined) return valuesOf(value.names.at(-1) ?? '', names);
  if (last.startsWith('-')) return flags.flatMap((flag) => flag.names.filter((name) => name.startsWith('--')));
  if (hasArgument(rest.slice(0, -1), flags)) return [];
  return argumentsOf(command, featureIn(rest, flags), names);
}

interface Flag {
  /** "-f" and "--feature", the long one last. */
  readonly names: readonly string[];
  readonly takesValue: boolean;
}

function flagsOf({ options }: CommandDefinition): readonly Flag[] {
  const own = Object.values(options).map(([flags]) => ({
    names: flags.match(/(?<=^|, )--?[\w-]+/g) ?? [],
    takesValue: flags.includes('<'),
  }));
  return [...own, { names: ['-h', '--help'], takesValue: false }];
}

async function valuesOf(option: string, names: Names): Promise<readonly string[]> {
  if (option === '--feature') return names.features();
  if (option === '--task') return names.tasks(undefined);
  return VALUES[option] ?? [];
}

/** Whether the command's own argument stands on the line already. */
function hasArgument(words: readonly string[], flags: readonly Flag[]): boolean {
  return words.some((word, index) => {
    const isValue = flags.some((flag) => flag.takesValue && flag.names.includes(words[index - 1] ?? ''));
    return !word.startsWith('-') && !isValue;
  });
}

function featureIn(words: readonly string[], flags: readonly Flag[]): string | undefined {
  const option = flags.find(({ names }) => names.includes('--feature'));
  const at = words.findIndex((word) => option?.names.includes(word) === true);
  return at === -1 ? undefined : words[at + 1];
}

async function argumentsOf(
  { argument }: CommandDefinition,
  feature: string | undefined,
  names: Names,
): Promise<readonly string[]> {
  const name = argument?.[0].replaceAll(/[<>[\].]/g, '') ?? '';
  if (name === 'feature') return names.features();
  if (name === 'task') return names.tasks(feature);
  if (name === 'worker') return names.workers(feature);
  if (name === 'target') return [...(await names.tasks(feature)), ...(await names.workers(feature))];
  return ARGUMENTS[name] ?? [];
}
