import { configErrors } from '../config/errors.ts';
import { parseConfig } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import type { AppError, Environment } from '../lib/index.ts';
import { differences, readApproved, readSteering, writeApproved } from '../trust/index.ts';
import type { Difference, SteeringFiles } from '../trust/index.ts';
import { projectErrors } from './errors.ts';
import type { Project } from './project.ts';

/** A log of a machine without a terminal need not hold a whole Dockerfile. */
const SHOWN_LINES = 80;

interface Where {
  readonly env: Environment;
}

/** Settings of a repository are code, and every contributor to it can write them. */
export interface Settings {
  readonly files: SteeringFiles;
  /** How they differ from what the user has approved last. */
  readonly changes: readonly Difference[];
}

export async function readSettings({ repository, paths }: Project, { env }: Where): Promise<Settings> {
  const [files, approved] = await Promise.all([readSteering(paths.top), readApproved(repository.root, env)]);
  return { files, changes: differences(approved, files) };
}

/** From the very text that is asked about. */
export function configOf({ paths }: Project, { files }: Settings): Config {
  const found = files['config.yaml'];
  if (found?.text !== null) return parseConfig(paths.config, found?.text);
  const problems = [`it is no text, or too long (${found.bytes} bytes)`];
  throw configErrors.CONFIG_INVALID({ file: paths.config, problems });
}

/** From now on runs obey these settings as they are. */
export async function approveSettings({ repository }: Project, { files }: Settings, { env }: Where): Promise<void> {
  await writeApproved(repository.root, env, files);
}

/** What a dry run, which obeys nothing that does harm, has to say. */
export function trustNotes({ changes }: Settings): string[] {
  if (changes.length === 0) return [];
  return [`a run will ask for your approval first: ${changes.map(inWords).join(', ')}`];
}

/** For what we have just written ourselves. */
export async function approveOwn(project: Project, file: string, { env }: Where): Promise<void> {
  const { root } = project.repository;
  const [files, approved] = await Promise.all([readSteering(project.paths.top), readApproved(root, env)]);
  const own = files[file];
  if (own !== undefined) await writeApproved(root, env, { ...approved, [file]: own });
}

/** `shown`: the user has just seen the difference. */
export function notTrusted({ changes }: Settings, shown: boolean): AppError {
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
  return `.mahabharatha/${file} ${what}`;
}
