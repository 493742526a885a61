import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { clientConfig, CLIENTS } from './client-config.ts';
import { ownCommand } from './own-command.ts';

const started = { command: 'mahabharatha', args: ['mcp'], env: { EXECUTION_MODE: 'container' } };
const parsed = (client: string): unknown => JSON.parse(clientConfig(client, started) ?? '');

describe('the configuration of a client', () => {
  it('is the .mcp.json of Claude Code', () => {
    expect(parsed('claude')).toEqual({ mcpServers: { mahabharatha: { type: 'stdio', ...started } } });
  });

  it('is the mcp.json of Cursor', () => {
    expect(parsed('cursor')).toEqual({ mcpServers: { mahabharatha: started } });
  });

  it('is the mcp.json of VS Code', () => {
    expect(parsed('vscode')).toEqual({ servers: { mahabharatha: { type: 'stdio', ...started } } });
  });

  it('is a part of the config.toml of Codex, with quotes in paths', () => {
    const command = 'C:\\new "tools"\\node';
    expect(clientConfig('codex', { ...started, command, args: ['/home/ü/\u007F', 'mcp'] })).toBe(
      `[mcp_servers.mahabharatha]
command = "C:\\\\new \\"tools\\"\\\\node"
args = ["/home/ü/\\u007F", "mcp"]

[mcp_servers.mahabharatha.env]
EXECUTION_MODE = "container"
`,
    );
  });

  it('is there for four clients, and for no other', () => {
    expect(CLIENTS).toEqual(['claude', 'cursor', 'vscode', 'codex']);
    for (const other of ['', 'emacs', 'toString', '__proto__']) expect(clientConfig(other, started)).toBeUndefined();
  });
});

function installed(...parts: string[]): string {
  const folder = path.join(tempFolder(), ...parts, 'node_modules', 'mahabharatha', 'bin');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'mahabharatha.js');
  writeFileSync(file, '', { mode: 0o755 });
  return file;
}

function linkTo(file: string): string {
  const folder = tempFolder();
  symlinkSync(file, path.join(folder, 'mahabharatha'));
  return folder;
}

describe('the command of a client', () => {
  it('is the name alone for a global install', async () => {
    const file = installed();
    const folder = linkTo(file);
    const called = { file: path.join(folder, 'mahabharatha'), version: '1.2.3', env: { PATH: folder } };
    expect(await ownCommand(called)).toEqual(['mahabharatha']);
  });

  it('is npx with this version when it was called by npx, though npx puts it on the PATH', async () => {
    const file = installed('_npx', '0123456789abcdef');
    expect(await ownCommand({ file, version: '1.2.3', env: { PATH: linkTo(file) } })).toEqual([
      'npx',
      '-y',
      'mahabharatha@1.2.3',
    ]);
  });

  it('is Node with the whole path otherwise, also when another one is on the PATH', async () => {
    const [file, other] = [installed(), installed()];
    expect(await ownCommand({ file, version: '1.2.3', env: { PATH: linkTo(other) } })).toEqual([
      process.execPath,
      file,
    ]);
    expect(await ownCommand({ file, version: '1.2.3', env: {} })).toEqual([process.execPath, file]);
  });
});
