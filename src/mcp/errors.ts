import { defineErrors } from '../lib/app-error.ts';

export const mcpErrors = defineErrors({
  CODE_SESSIONS_FULL: {
    kind: 'usage',
    example: { limit: 8, open: ['default', 'tests'] },
    message: (f) =>
      `${f.limit} sessions are open, and a user may have no more. Of this client: ${f.open.join(', ') || 'none'}.`,
    hint: () =>
      'Name one of them as session_id, or end one with reset_session. The limit is mcp.sessions of the configuration.',
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
