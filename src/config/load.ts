import type { z } from 'zod';
import { libErrors, readIfThere, readUntrusted, reasonOf } from '../lib/index.ts';
import { nearest } from '../lib/text/nearest.ts';
import { place, shapeProblem } from '../lib/text/shape.ts';
import { configErrors } from './errors.ts';
import { keysAt } from './keys-at.ts';
import { readYaml } from './read-yaml.ts';
import { configSchema } from './schema.ts';
import type { Config } from './schema.ts';
import { settingsSchema } from './settings-schema.ts';
import type { Settings } from './settings-schema.ts';

const LONGEST_BYTES = 256 * 1024;
const OWN_AGENTS: ReadonlySet<string> = new Set(['claude', 'codex', 'gemini', 'opencode', 'shell']);

/** The configuration of a repository; a missing file means the defaults. */
export async function loadConfig(file: string): Promise<Config> {
  return parseConfig(file, await readUntrusted(file, LONGEST_BYTES));
}

/** Pure: for a text that was approved, so that no other text is obeyed. */
export function parseConfig(file: string, text: string | undefined): Config {
  const config = parseWith(configSchema, file, text);
  const problems = [...duplicateGates(config), ...takenNames(config)];
  if (problems.length > 0) throw configErrors.CONFIG_INVALID({ file, problems });
  return config;
}

/** The user's own settings. The file may be a link: people keep such files elsewhere. */
export async function loadSettings(file: string): Promise<Settings> {
  const content = await readIfThere(file).catch((error: unknown) => {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  });
  return parseWith(settingsSchema, file, content?.toString('utf8'));
}

function parseWith<Value>(schema: z.ZodType<Value>, file: string, text: string | undefined): Value {
  const parsed = schema.safeParse(text === undefined ? {} : parseYaml(file, text), { error: shapeProblem });
  if (parsed.success) return parsed.data;
  throw configErrors.CONFIG_INVALID({ file, problems: parsed.error.issues.flatMap(inWords(schema)) });
}

function parseYaml(file: string, text: string): unknown {
  const read = readYaml(text);
  if (read.ok) return read.value ?? {};
  throw configErrors.CONFIG_INVALID({ file, problems: [...read.problems] }, { cause: read.cause });
}

const inWords =
  (schema: z.ZodType) =>
  (issue: z.core.$ZodIssue): string[] => {
    const { path } = issue;
    if (issue.code !== 'unrecognized_keys') return [`${place(path, 'the whole file')}: ${issue.message}`];
    return issue.keys.map((key) => {
      const meant = nearest(key, keysAt(schema, path));
      const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
      return `${place([...path, key], '')}: there is no such setting${hint}`;
    });
  };

/** Logs and state tell gates apart by their names. */
function duplicateGates(config: Config): string[] {
  const names = config.gates.map((gate) => gate.name);
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [`gates[${index}].name: "${name}" is already the name of another gate`] : [],
  );
}

/** Such an agent would never be asked. */
function takenNames({ agents }: Config): string[] {
  return Object.keys(agents)
    .filter((name) => OWN_AGENTS.has(name))
    .map(
      (name) =>
        `agents.${name}: Mahabharatha knows an agent of this name itself; choose another name${name === 'shell' ? '' : `, or use the section "${name}:"`}`,
    );
}
