import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { tempRepository } from '../../../test/support/temp-repository.ts';
import { approveSettings, projectIfAny, readSettings } from '../../project/index.ts';
import { mcpSettings } from './mcp-settings.ts';

const CONFIG = '.mahabharatha/config.yaml';

/** The settings, and what was told on stderr. */
async function settingsIn(cwd: string, env: Readonly<Record<string, string>>, file?: string) {
  let told = '';
  const settings = await mcpSettings(file, { cwd, env, err: (text) => (told += text.toString()) });
  return { settings, told };
}

function repositoryWith(config: string) {
  const { write, folder, env: git } = tempRepository();
  const env = { ...git, XDG_STATE_HOME: tempFolder() };
  write(CONFIG, config);
  const approve = async (): Promise<void> => {
    const project = await projectIfAny({ cwd: folder, env });
    if (project === null) throw new Error('there is no project');
    await approveSettings(project, await readSettings(project, { env }, 'subprocess'), { env });
  };
  return { write, folder, env, approve };
}

it('the settings of a repository count once the user has approved them, and not after a change', async () => {
  const { folder, env, write, approve } = repositoryWith('mcp: { cpus: 64 }\n');
  const before = await settingsIn(folder, env);
  expect(before.settings.cpus).toBe(2);
  expect(before.told).toContain(`The section "mcp" of ${path.join(folder, CONFIG)} does not count`);
  await approve();
  expect(await settingsIn(folder, env)).toMatchObject({ settings: { cpus: 64 }, told: '' });
  write(CONFIG, 'mcp: { cpus: 63 }\n');
  expect((await settingsIn(folder, env)).settings.cpus).toBe(2);
});

it('nothing is said of settings that would make no difference', async () => {
  const { folder, env } = repositoryWith('workers: { count: 8 }\n');
  expect(await settingsIn(folder, env)).toMatchObject({ settings: { cpus: 2 }, told: '' });
});

it('a repository that cannot be read leaves the defaults, and says why', async () => {
  const { folder, env, approve } = repositoryWith('mcp: { cpus: none }\n');
  expect((await settingsIn(folder, env)).told).toContain('does not count');
  await approve();
  expect(await settingsIn(folder, env)).toMatchObject({
    settings: { cpus: 2 },
    told: expect.stringContaining('mcp.cpus: expected a number'),
  });
});

it('outside of repositories no file counts, unless it is named', async () => {
  const folder = tempFolder();
  mkdirSync(path.join(folder, '.mahabharatha'));
  for (const file of ['config.yaml', CONFIG]) writeFileSync(path.join(folder, file), 'mcp: { cpus: 3, memory: 1g }\n');
  const env = { XDG_STATE_HOME: folder, MAHABHARATHA_MCP_MEMORY: '2g' };
  expect((await settingsIn(folder, env, 'config.yaml')).settings).toMatchObject({ cpus: 3, memory: 2 * 1024 ** 3 });
  expect((await settingsIn(folder, env)).settings).toMatchObject({ cpus: 2, memory: 2 * 1024 ** 3 });
  await expect(settingsIn(folder, env, 'none.yaml')).rejects.toMatchObject({ code: 'USAGE' });
});
