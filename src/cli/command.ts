import type { Environment, Printable } from '../lib/index.ts';

/** Where a command meets the world; no command reads a global. */
export interface CliContext {
  readonly cwd: string;
  readonly env: Environment;
  /** A person watches: live views and questions are welcome. */
  readonly terminal: boolean;
  readonly color: boolean;
  out(text: Printable): void;
  err(text: Printable): void;
  /** Asks a yes/no question at the terminal. */
  confirm(question: Printable): Promise<boolean>;
  /** Fires at the first SIGINT or SIGTERM; the reason is the exit status. */
  readonly interrupted: AbortSignal;
  /** What is to be done when a second signal comes: quickly, without waiting. */
  onForce(work: () => Promise<void>): void;
  readonly version: string;
}

interface OptionDefinition {
  /** As commander reads it: "-w, --workers <n>". */
  readonly flags: string;
  readonly summary: string;
}

export type CommandInput = Readonly<Record<string, string | boolean | undefined>>;

/** A command is data; help, errors and the reference are made from it. Heavy modules are loaded when it runs. */
export interface Command {
  readonly name: string;
  readonly alias?: string;
  /** Positional argument, say "[task]". */
  readonly argument?: { readonly name: string; readonly summary: string };
  readonly summary: string;
  readonly options: readonly OptionDefinition[];
  /** Paragraphs that stand below the options, for what must be known before the command is used. */
  readonly details?: readonly string[];
  readonly examples: readonly (readonly [command: string, meaning: string])[];
  /** The positional argument is in `input.argument`. Returns the exit status. */
  run(input: CommandInput, context: CliContext): Promise<number>;
}

export const JSON_OPTION: OptionDefinition = { flags: '--json', summary: 'machine-readable output' };
export const FEATURE_OPTION: OptionDefinition = {
  flags: '-f, --feature <name>',
  summary: 'the feature; may be left out when there is only one',
};

export const TRUST_OPTION: OptionDefinition = {
  flags: '--trust-config',
  summary: 'approve the settings in .mahabharatha/ as they are now, without being asked',
};

export function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
