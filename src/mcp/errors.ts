import { defineErrors } from '../lib/app-error.ts';

const whose = (open: readonly string[]): string =>
  open.length === 0
    ? 'Other clients of this user have them.'
    : `Name one of this client as session_id (${open.join(', ')}), or end one with reset_session.`;

export const mcpErrors = defineErrors({
  CODE_SESSIONS_FULL: {
    kind: 'usage',
    example: { limit: 8, open: ['default', 'tests'] },
    message: (f) => `${f.limit} sessions are open, and a user may have no more. ${whose(f.open)}`,
    hint: () => 'The limit is mcp.sessions of the configuration; a session that is not used ends by itself.',
  },
  CLIENTS_FULL: {
    kind: 'environment',
    example: { limit: 64 },
    message: (f) => `${f.limit} clients of this user are connected, and there may be no more.`,
    hint: () => 'Close one of them.',
  },
  CLIENT_GONE: {
    kind: 'usage',
    example: {},
    message: () => 'The session of the client has ended.',
    hint: () => 'Open another one.',
  },
});
