/** How a client starts the server. */
export interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const NAME = 'mahabharatha';

const CONFIGS: Readonly<Record<string, (started: Started) => string>> = {
  claude: (started) => json({ mcpServers: { [NAME]: { type: 'stdio', ...started } } }),
  cursor: (started) => json({ mcpServers: { [NAME]: started } }),
  vscode: (started) => json({ servers: { [NAME]: { type: 'stdio', ...started } } }),
  codex: toml,
};

export const CLIENTS: readonly string[] = Object.keys(CONFIGS);

/** Pure. The configuration as the client's own file has it; undefined for a client that is not known. */
export function clientConfig(client: string, started: Started): string | undefined {
  return Object.hasOwn(CONFIGS, client) ? CONFIGS[client]?.(started) : undefined;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

function toml({ command, args, env }: Started): string {
  const lines = [
    `[mcp_servers.${NAME}]`,
    `command = ${tomlText(command)}`,
    `args = [${args.map(tomlText).join(', ')}]`,
    '',
    `[mcp_servers.${NAME}.env]`,
    ...Object.entries(env).map(([name, value]) => `${name} = ${tomlText(value)}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** A basic string of TOML is a string of JSON, but for one character. */
const tomlText = (text: string): string => JSON.stringify(text).replaceAll('\u007F', '\\u007F');
