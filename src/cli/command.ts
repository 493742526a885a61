import type { Environment, Printable } from '../lib/index.ts';
import type { Screen } from './screen.ts';

/** What a command gets from its process; commands read no globals. */
export interface CliContext {
  readonly cwd: string;
  readonly env: Environment;
  /** Input and output are a terminal: questions are possible. */
  readonly terminal: boolean;
  /** For a live view; undefined where none is possible. */
  readonly screen: Screen | undefined;
  readonly color: boolean;
  out(text: Printable): void;
  err(text: Printable): void;
  /** The streams themselves, for a command that hands them on to a program of the user's. */
  readonly streams: Readonly<Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>>;
  /** Asks a yes/no question at the terminal. */
  confirm(question: Printable): Promise<boolean>;
  /** Asks for a line at the terminal; empty for nothing. */
  ask(question: Printable): Promise<string>;
  /** Fires at the first SIGINT or SIGTERM; the reason is the exit status. */
  readonly interrupted: AbortSignal;
  /** Registers work for a second signal, which ends the process at once. */
  onForce(work: () => Promise<void>): void;
  /** From now on a signal is answered without words: nothing has to be ended in order. */
  endSilently(): void;
  readonly version: string;
}

/** The flags as commander reads them: "-w, --workers <n>". */
type OptionDefinition = readonly [flags: string, summary: string];

/** A command is data; help, errors and the reference are made from it. */
export interface CommandDefinition {
  readonly name: string;
  readonly alias?: string;
  /** Positional argument, say "[task]". */
  readonly argument?: readonly [name: string, summary: string];
  /** All that comes after it, say "[command...]". */
  readonly rest?: readonly [name: string, summary: string];
  readonly summary: string;
  /** It only shows something: Ctrl-C ends it without words. */
  readonly isViewer?: true;
  readonly options: Readonly<Record<string, OptionDefinition>>;
  /** Paragraphs below the options: what a user should know before the first use. */
  readonly details?: readonly string[];
  readonly examples: readonly (readonly [command: string, meaning: string])[];
}

/** What a command line says: a text for each option with a value, true or false for all others. */
export type InputOf<Definition extends CommandDefinition> = {
  readonly [Name in keyof Definition['options']]: Definition['options'][Name][0] extends `${string}<${string}`
    ? string | undefined
    : boolean;
} & { readonly argument: string | undefined; readonly rest: readonly string[] };

export const JSON_OPTION = ['--json', 'for programs: one JSON object per line'] as const;
/** Of all commands that have an option `feature` and no other argument: it is the same as that option. */
export const FEATURE_ARGUMENT = ['[feature]', 'its name; the same as --feature'] as const;
export const FEATURE_OPTION = [
  '-f, --feature <name>',
  'the feature (default: the one that runs now, else the one with the newest run)',
] as const;
/** Of commands that change branches of the user, or remove work. */
export const SURE_FEATURE_OPTION = ['-f, --feature <name>', 'the feature (default: the only one with a run)'] as const;

export const TRUST_OPTION = [
  '--trust-config',
  'approve the settings in .mahabharatha/ as they are now, without being asked',
] as const;
