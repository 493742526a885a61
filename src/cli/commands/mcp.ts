import type { CommandDefinition } from '../command.ts';
import { JSON_OPTION } from '../command.ts';

export const mcp = {
  name: 'mcp',
  summary: 'offer the tool run_code to an AI client, on stdin and stdout or over HTTP',
  options: {
    config: ['--config <path>', 'another file than .mahabharatha/config.yaml; its section "mcp" counts'],
    printConfig: [
      '--print-config <client>',
      'only print what goes into the configuration of claude, cursor, vscode or codex',
    ],
    http: ['--http', 'serve any number of clients over streamable HTTP'],
    host: ['--host <address>', 'where to listen with --http (default: 127.0.0.1)'],
    port: ['--port <n>', 'the port with --http, 0 for any (default: 8001)'],
    tokenFile: [
      '--token-file <path>',
      'with --http: a file with a line "<user> <token>" for each user; requests must have a token',
    ],
    noToken: [
      '--insecure-no-token',
      'with --http: let everyone who reaches an address that is not of this machine run code',
    ],
    json: JSON_OPTION,
  },
  details: [
    `EXECUTION_MODE=container runs code in locked-down containers without a network; without it code runs in processes of
this machine that have closed their own doors, which is a weak sandbox (preload mode). Each limit of the section "mcp" has a
variable of its own, say MAHABHARATHA_MCP_TIMEOUT=60s; BUN_RUNNER_BASE names the image that the one with Bun is built on.`,
    `The settings of a repository count only as you have approved them with another command; a file that --config names always does.`,
  ],
  examples: [
    ['claude mcp add mahabharatha -e EXECUTION_MODE=container -- mahabharatha mcp', 'adds it to Claude Code'],
    ['mahabharatha mcp --print-config cursor', 'what goes into .cursor/mcp.json'],
    ['mahabharatha mcp --http', 'at http://127.0.0.1:8001/mcp, for programs of this machine'],
  ],
} as const satisfies CommandDefinition;
