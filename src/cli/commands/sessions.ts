import type { CommandDefinition } from '../command.ts';
import { JSON_OPTION } from '../command.ts';

export const sessions = {
  name: 'sessions',
  argument: ['[action]', '"end" ends sessions; without it they are listed'],
  rest: ['[session...]', 'after "end": the sessions that are to be ended'],
  summary: 'list or end the open sessions of servers that run',
  options: {
    url: ['--url <address>', 'a server; without it all that you run on this machine are asked'],
    tokenFile: ['--token-file <path>', 'a file with your token, as for serve; or the token is in MAHABHARATHA_TOKEN'],
    all: ['--all', 'after "end": all of them'],
    json: JSON_OPTION,
  },
  details: ['A server shows and ends the sessions of the user whose token is sent, and no others.'],
  examples: [
    ['mahabharatha sessions', 'which are open, and what they do'],
    ['mahabharatha sessions end session_1234abcd', 'end one, with its container and its workspace'],
    ['mahabharatha sessions end --all --url http://runner:8000 --token-file token', 'end all on another machine'],
  ],
} as const satisfies CommandDefinition;
