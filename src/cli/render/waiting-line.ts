import { inDuration, line, printableJson } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';

/** Until when the process stays at a usage limit. */
export function waitingText(until: Date, json: boolean): Printable {
  const now = new Date();
  if (json) return line`${printableJson({ at: now.toISOString(), type: 'waiting', until: until.toISOString() })}\n`;
  const left = inDuration(until.getTime() - now.getTime());
  return line`\nThe run goes on by itself at ${until.toISOString()}, in ${left}. Ctrl-C ends this process; --resume goes on then.\n\n`;
}
