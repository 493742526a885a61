import { defineErrors } from '../lib/app-error.ts';
import { counted } from '../lib/text/words.ts';

export const credentialErrors = defineErrors({
  CREDENTIALS_INVALID: {
    kind: 'environment',
    example: { source: '/home/me/.claude/.credentials.json', reason: 'it is not JSON' },
    message: (f) => `The login of Claude Code in ${f.source} cannot be used: ${f.reason}.`,
    hint: () =>
      'Run "claude" once and log in, or set CLAUDE_CODE_OAUTH_TOKEN (from: claude setup-token) or ANTHROPIC_API_KEY.',
  },
  CREDENTIALS_NOT_INJECTABLE: {
    kind: 'usage',
    example: { reason: 'with "network: open" no request goes through the egress proxy' },
    message: (f) =>
      `workers.container.credentials is "inject", but the credentials cannot be kept out of the containers: ${f.reason}.`,
    hint: () =>
      'Use "network: allowlist" with ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN (from: claude setup-token), or set "credentials: handover": then the agent gets them.',
  },
  CREDENTIALS_MISSING: {
    kind: 'environment',
    example: { agent: 'Claude Code', reason: 'none found', tasks: 3, login: 'set ANTHROPIC_API_KEY' },
    message: (f) =>
      `There are no credentials for ${f.agent} in a container: ${f.reason}. ${counted(f.tasks, 'task needs it', 'tasks need it')}.`,
    hint: (f) => `For ${f.agent}: ${f.login}.`,
  },
});
