import { defineErrors } from '../lib/app-error.ts';

export const guardErrors = defineErrors({
  BODIES_FULL: {
    kind: 'environment',
    example: { whose: 'all users', limit: 268_435_456 },
    message: (f) =>
      `The bodies of the requests of ${f.whose} that are under way would have more than ${f.limit} bytes.`,
    hint: () => 'Ask again in some seconds, or send the files of an upload in several requests.',
  },
  BODY_TOO_LARGE: {
    kind: 'usage',
    example: { limit: 8_388_608 },
    message: (f) => `The body of the request has more than ${f.limit} bytes.`,
    hint: () => 'Send less in one request.',
  },
  TOKEN_REFUSED: {
    kind: 'usage',
    example: {},
    message: () => 'The token is missing, or not one of this server.',
    hint: () => 'Send the header "Authorization: Bearer <token>" with a token of the file that --token-file names.',
  },
  HOST_REFUSED: {
    kind: 'usage',
    example: { host: 'evil.example' },
    message: (f) => `The server is not to be asked by the name "${f.host}".`,
    hint: () => 'Ask it as localhost or 127.0.0.1, or start it with --host and a token file for other names.',
  },
  ORIGIN_REFUSED: {
    kind: 'usage',
    example: { origin: 'https://evil.example' },
    message: (f) => `Pages of ${f.origin} may not ask this server.`,
    hint: () => 'For "serve", add the origin to serve.cors of the configuration.',
  },
  TOKEN_NEEDED: {
    kind: 'usage',
    example: { host: '0.0.0.0' },
    message: (f) => `On ${f.host} other machines reach the server, and it runs the programs that it is sent.`,
    hint: () => 'Give it a --token-file, or say --insecure-no-token.',
  },
  LISTEN_REFUSED: {
    kind: 'environment',
    example: { host: '127.0.0.1', port: 80, reason: 'you have no right to it' },
    message: (f) => `The server cannot listen on ${f.host}:${f.port}: ${f.reason}.`,
    hint: () =>
      'Choose another port with --port (those below 1024 are for root alone), or another address with --host.',
  },
  PORT_TAKEN: {
    kind: 'environment',
    example: { host: '127.0.0.1', port: 8000 },
    message: (f) => `Another program listens on ${f.host}:${f.port}.`,
    hint: () => 'Choose another one with --port.',
  },
});
