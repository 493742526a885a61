import type { CommandDefinition } from '../command.ts';
import { JSON_OPTION, TRUST_OPTION } from '../command.ts';

export const serve = {
  name: 'serve',
  summary: 'run commands and code for other programs, over HTTP, in locked-down containers',
  options: {
    config: ['--config <path>', 'another file than .mahabharatha/config.yaml; its section "serve" counts'],
    host: ['--host <address>', 'where to listen (default: HOST, serve.host of the config, 127.0.0.1)'],
    port: ['--port <n>', 'the port, 0 for any (default: PORT, serve.port of the config, 8000)'],
    tokenFile: ['--token-file <path>', 'a file with a line "<user> <token>" for each user; requests must have a token'],
    noToken: ['--insecure-no-token', 'let everyone who reaches an address that is not of this machine run programs'],
    trustConfig: TRUST_OPTION,
    json: JSON_OPTION,
  },
  details: [
    `The server has the rights of the container engine's user; what it is sent runs in containers without a network, with a
read-only root and limits. GET /openapi.json describes every request.`,
  ],
  examples: [
    ['mahabharatha serve', 'on 127.0.0.1:8000, for programs of this machine'],
    ['mahabharatha serve --host 0.0.0.0 --token-file tokens', 'for other machines, with a token for each user'],
    [
      `curl -s localhost:8000/v1/sessions -H 'content-type: application/json' \\\n        -d '{"project_id":"demo","runtime_type":"shell"}'`,
      'open a session',
    ],
  ],
} as const satisfies CommandDefinition;
