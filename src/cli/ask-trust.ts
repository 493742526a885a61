import { line } from '../lib/index.ts';
import { approveSettings, changeLines, notTrusted } from '../project/index.ts';
import type { Settings, SettingsPlace } from '../project/index.ts';
import type { CliContext } from './command.ts';

/** Changed settings need the user's approval before a run obeys them: asked for at a terminal, refused elsewhere. */
export async function askTrust(
  place: SettingsPlace,
  settings: Settings,
  trusted: boolean,
  context: CliContext,
): Promise<void> {
  if (settings.changes.length === 0) return;
  if (!trusted && !(await isConfirmed(settings, context))) throw notTrusted(settings, context.terminal);
  await approveSettings(place, settings, context);
}

async function isConfirmed({ changes }: Settings, { terminal, out, confirm }: CliContext): Promise<boolean> {
  if (!terminal) return false;
  out(line`Runs obey these settings of the repository, and you have not approved them on this machine:\n`);
  for (const text of changeLines(changes)) out(line`${text}\n`);
  return confirm(line`\nObey them from now on?`);
}
