import type { Environment } from '../lib/index.ts';
import { gitIn, identityEnvironment } from './git-command.ts';

/** Makes a folder a repository with everything in it as the first commit. */
export async function newRepository(folder: string, env: Environment): Promise<void> {
  const git = gitIn(folder, env);
  await git.text(['init', '--quiet', '--initial-branch=main']);
  await git.text(['add', '--all']);
  await git.text(['commit', '--quiet', '--no-gpg-sign', '--message', 'First commit'], { env: identityEnvironment() });
}
