import path from 'node:path';
import { configErrors } from '../config/errors.ts';
import { parseConfig } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { parseAllowlist } from '../egress/rules/index.ts';
import { counted } from '../lib/index.ts';
import type { AppError, Environment } from '../lib/index.ts';
import { readProjectRegistries } from '../npm/index.ts';
import { differences, readApproved, readSteering, writeApproved } from '../trust/index.ts';
import type { Difference, SteeringFiles } from '../trust/index.ts';
import { OWN_FOLDER } from '../tasks/index.ts';
import { projectErrors } from './errors.ts';
import type { Project } from './project.ts';

/** So many lines of a difference go into an error. */
const SHOWN_LINES = 80;

interface Where {
  readonly env: Environment;
}

/** A repository, or another folder with settings. */
export interface SettingsPlace {
  readonly repository: Pick<Project['repository'], 'root'>;
  readonly paths: Pick<Project['paths'], 'top' | 'config'>;
}

/** A folder that is no repository. */
export function folderPlace(folder: string): SettingsPlace {
  const top = path.join(folder, OWN_FOLDER);
  return { repository: { root: folder }, paths: { top, config: path.join(top, 'config.yaml') } };
}

/** Settings of a repository: runs obey them like code, and every contributor can change them. */
export interface Settings {
  readonly files: SteeringFiles;
  /** npm registries that workers in containers may reach because the repository's .npmrc names them. */
  readonly registries: readonly string[];
  /** Differences from what the user approved last. */
  readonly changes: readonly Difference[];
}

/** `mode`: the value of `--mode`, which overrides the configuration. */
export async function readSettings(project: SettingsPlace, { env }: Where, mode?: string): Promise<Settings> {
  const { repository, paths } = project;
  const [files, approved] = await Promise.all([readSteering(paths.top), readApproved(repository.root, env)]);
  const registries = (await followedRegistries(project, files, mode)) ?? approved.registries;
  return {
    files,
    registries,
    changes: [...differences(approved.files, files), ...wider(approved.registries, registries)],
  };
}

/** Undefined where .npmrc is not used: without containers, or without the preset "npm". */
async function followedRegistries(
  { repository, paths }: SettingsPlace,
  files: SteeringFiles,
  mode: string | undefined,
): Promise<string[] | undefined> {
  const workers = workersOf(paths.config, files['config.yaml']?.text);
  if (workers === undefined || (mode ?? workers.mode) === 'subprocess') return undefined;
  const { network, allow } = workers.container;
  if (network !== 'allowlist' || !parseAllowlist(allow).npm) return undefined;
  const { addresses } = await readProjectRegistries(repository.root);
  return [...new Set(addresses.map(({ origin }) => origin))].toSorted();
}

/** An unreadable file is reported where it is used. */
function workersOf(file: string, text: string | null | undefined): Config['workers'] | undefined {
  try {
    return text === null ? undefined : parseConfig(file, text).workers;
  } catch {
    return undefined;
  }
}

/** Removed registries need no approval, because the allowlist only gets smaller. */
function wider(approved: readonly string[], found: readonly string[]): Difference[] {
  const more = found.filter((origin) => !approved.includes(origin));
  if (more.length === 0) return [];
  const what = `lets workers reach ${counted(more.length, 'more registry', 'more registries')}`;
  return [{ file: '../.npmrc', what, lines: more.map((origin) => `+ ${origin}`) }];
}

/** The configuration in the text that the user approves. */
export function configOf({ paths }: SettingsPlace, { files }: Settings): Config {
  const found = files['config.yaml'];
  if (found?.text !== null) return parseConfig(paths.config, found?.text);
  const problems = [`it is no text, or too long (${found.bytes} bytes)`];
  throw configErrors.CONFIG_INVALID({ file: paths.config, problems });
}

/** Records that the user has approved these settings. Throws CONFIG_NOT_TRUSTED when they have changed while the user was asked. */
export async function approveSettings(
  { repository, paths }: SettingsPlace,
  settings: Settings,
  { env }: Where,
): Promise<void> {
  await writeApproved(repository.root, env, settings);
  const changes = differences(settings.files, await readSteering(paths.top));
  if (changes.length > 0) throw notTrusted({ changes }, false);
}

/** A note for a dry run, which needs no approval. */
export function trustNotes({ changes }: Settings): string[] {
  if (changes.length === 0) return [];
  return [`a run will ask for your approval first: ${changes.map(inWords).join(', ')}`];
}

/** Approves a file that we have just written ourselves. */
export async function approveOwn(project: SettingsPlace, file: string, { env }: Where): Promise<void> {
  const { root } = project.repository;
  const [files, approved] = await Promise.all([readSteering(project.paths.top), readApproved(root, env)]);
  const own = files[file];
  if (own !== undefined) await writeApproved(root, env, { ...approved, files: { ...approved.files, [file]: own } });
}

/** `shown`: the user has seen the difference, so the error does not repeat it. */
export function notTrusted({ changes }: Pick<Settings, 'changes'>, shown: boolean): AppError {
  const lines = shown ? [] : changeLines(changes);
  const rest = lines.length - SHOWN_LINES;
  const cut = rest > 0 ? [...lines.slice(0, SHOWN_LINES), `… and ${rest} more lines`] : lines;
  return projectErrors.CONFIG_NOT_TRUSTED({ changes: changes.map(inWords), lines: cut });
}

/** The difference as it may be shown, line by line. */
export function changeLines(changes: readonly Difference[]): string[] {
  return changes.flatMap((change) => [`${inWords(change)}:`, ...change.lines.map((text) => `  ${text}`)]);
}

export function inWords({ file, what }: Difference): string {
  return `${path.posix.join('.mahabharatha', file)} ${what}`;
}
