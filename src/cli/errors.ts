import { defineErrors } from '../lib/app-error.ts';
import { listed } from '../lib/text/words.ts';

export const cliErrors = defineErrors({
  CLEANUP_UNCONFIRMED: {
    kind: 'usage',
    example: { features: ['login'] },
    message: (f) => `Nothing was removed: cleaning up ${listed(f.features, 5)} was not confirmed.`,
    hint: () => 'See what would be removed with --dry-run; without a terminal add --yes.',
  },
  DEMO_FOLDER_NOT_EMPTY: {
    kind: 'usage',
    example: { path: '/tmp/demo' },
    message: (f) => `${f.path} is not empty.`,
    hint: () => 'Name an empty or new folder, or leave --dir out to get a temporary one.',
  },
  NO_SERVER: {
    kind: 'environment',
    example: {},
    message: () => 'No server of yours runs on this machine.',
    hint: () => 'Start one with mahabharatha serve, or name one with --url.',
  },
  SERVER_SILENT: {
    kind: 'environment',
    example: { url: 'http://localhost:8000', reason: 'connect ECONNREFUSED 127.0.0.1:8000' },
    message: (f) => `The server at ${f.url} does not answer: ${f.reason}.`,
    hint: () => 'See with "mahabharatha sessions", without --url, which servers of yours run.',
  },
  SERVER_REFUSED: {
    kind: 'environment',
    example: { url: 'http://localhost:8000', status: 401, detail: 'The token is missing, or not one of this server.' },
    message: (f) => `The server at ${f.url} answers ${f.status}: ${f.detail}`,
    hint: (f) =>
      f.status === 401
        ? 'Name the file with your token with --token-file, or give the token in MAHABHARATHA_TOKEN.'
        : 'GET /openapi.json of that server says what it answers.',
  },
  SESSION_NOT_OPEN: {
    kind: 'usage',
    example: { sessions: ['session_1234abcd'] },
    message: (f) => `No session of yours has this name: ${f.sessions.join(', ')}.`,
    hint: () => 'See: mahabharatha sessions',
  },
});
