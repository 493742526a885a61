import { defineErrors } from '../lib/app-error.ts';

export const httpErrors = defineErrors({
  BODY_INVALID: {
    kind: 'usage',
    example: { where: 'body', problems: ['timeout_s: expected number, received string'] },
    message: (f) => `The ${f.where} is not as it should be: ${f.problems.join('; ')}.`,
    hint: () => 'GET /openapi.json describes every request.',
  },
  UPLOAD_INCOMPLETE: {
    kind: 'usage',
    example: { problems: ['src/b.ts: the disk of the sandbox is full'], written: 4 },
    message: (f) => `Some files could not be changed: ${f.problems.join('; ')}. ${f.written} files were written.`,
    hint: () => '"failed", "written" and "deleted" name each file. Send again what has failed.',
  },
  PISTON_REFUSED: {
    kind: 'usage',
    example: { reason: 'cobol-1 runtime is unknown' },
    message: (f) => f.reason,
    hint: () => 'GET /api/v2/runtimes lists the languages with their versions; docs/serve.md has the limits.',
  },
  ANSWERS_FULL: {
    kind: 'environment',
    example: { whose: 'all users', limit: 536_870_912 },
    message: (f) => `The answers for ${f.whose} that are not yet read would have more than ${f.limit} bytes.`,
    hint: () => 'Read the answers that are under way, and ask again in some seconds.',
  },
  RATE_LIMITED: {
    kind: 'usage',
    example: { who: 'the user anna', seconds: 3 },
    message: (f) => `There were too many requests of ${f.who}.`,
    hint: (f) => `Ask again in ${f.seconds} s, or raise serve.limits of the configuration.`,
  },
  SOCKETS_FULL: {
    kind: 'usage',
    example: { whose: 'session session_1234abcd', limit: 32 },
    message: (f) => `The ${f.whose} has ${f.limit} web sockets open, and may have no more.`,
    hint: () => 'Close one of them: one socket takes one command after the other.',
  },
  NO_SOCKET: {
    kind: 'usage',
    example: { place: '/v1/sessions' },
    message: (f) => `There is no web socket at ${f.place}.`,
    hint: () => 'A session has one at /v1/sessions/<id>/exec.',
  },
  PROTOCOL_UNKNOWN: {
    kind: 'usage',
    example: { protocol: 'mahabharatha' },
    message: (f) => `Of the protocols that the client offers, none is "${f.protocol}".`,
    hint: () => 'Offer none, or this one first: new WebSocket(url, ["mahabharatha", "bearer.<token>"]).',
  },
  UPGRADE_NEEDED: {
    kind: 'usage',
    example: {},
    message: () => 'This request opens a web socket, and has no "Upgrade: websocket".',
    hint: () => 'Open it with a client of web sockets, or send POST.',
  },
  MESSAGE_INVALID: {
    kind: 'usage',
    example: { problem: 'it is no JSON' },
    message: (f) => `The message cannot be used: ${f.problem}.`,
    hint: () => 'Send what POST /v1/sessions/<id>/exec takes, or {"type":"kill"}.',
  },
  TOO_MANY_WAITING: {
    kind: 'usage',
    example: { limit: 16 },
    message: (f) => `${f.limit} commands of this socket wait already.`,
    hint: () => 'Wait for the end of one.',
  },
});
