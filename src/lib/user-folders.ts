import { homedir } from 'node:os';
import path from 'node:path';
import type { Environment } from './process.ts';

const NAME = 'mahabharatha';

/** The user's folder for the state of programs. */
export function stateHome(env: Environment): string {
  return below(env, env['XDG_STATE_HOME'], ['.local', 'state']);
}

/** The user's folder for the settings of programs. */
export function settingsHome(env: Environment): string {
  return below(env, env['XDG_CONFIG_HOME'], ['.config']);
}

/** Replaces a leading "~" by the user's home folder. */
export function atHome(folder: string, env: Environment): string {
  return folder.replace(/^~(?=\/|$)/, () => env['HOME'] || homedir());
}

/** A value that is no absolute path is ignored, as the XDG specification says. */
function below(env: Environment, named: string | undefined, usual: readonly string[]): string {
  const folder = named !== undefined && path.isAbsolute(named) ? named : path.join(atHome('~', env), ...usual);
  return path.join(folder, NAME);
}
