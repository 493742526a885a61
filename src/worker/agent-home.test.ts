import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { createAgentHome, withAgentHome } from './agent-home.ts';

const AGENT = {
  model: null,
  env: { ANTHROPIC_API_KEY: 'made-up-key' },
  files: [
    { path: '.claude.json', content: '{"hasCompletedOnboarding":true}\n' },
    { path: 'deep/down/file', content: 'deep' },
  ],
};

const NAMES = ['CLAUDE_CONFIG_DIR'];
const GIVEN = { agent: AGENT, names: NAMES };

const modeOf = (file: string): number => statSync(file).mode & 0o777;

/** Makes it, and says where it is. */
async function folderOf(agentHome: ReturnType<typeof createAgentHome>): Promise<string> {
  return (await agentHome.prepare(AGENT, NAMES))['CLAUDE_CONFIG_DIR'] ?? '';
}

describe("an agent's home", () => {
  it("has the agent's files for its user alone, and a variable that names its place", async () => {
    const home = tempFolder();
    const env = await createAgentHome(home).prepare(AGENT, NAMES);
    const folder = env['CLAUDE_CONFIG_DIR'] ?? '';
    expect(env).toEqual({ ANTHROPIC_API_KEY: 'made-up-key', CLAUDE_CONFIG_DIR: expect.stringContaining(`${home}/`) });
    expect(readFileSync(path.join(folder, '.claude.json'), 'utf8')).toBe('{"hasCompletedOnboarding":true}\n');
    for (const name of ['.', 'deep', 'deep/down']) expect(modeOf(path.join(folder, name))).toBe(0o700);
    for (const name of ['.claude.json', 'deep/down/file']) expect(modeOf(path.join(folder, name))).toBe(0o600);
  });

  it('is new for every attempt: what a task wrote into it is gone', async () => {
    const home = tempFolder();
    const agentHome = createAgentHome(home);
    const first = await folderOf(agentHome);
    writeFileSync(path.join(first, 'settings.json'), '{"hooks":{}}');
    writeFileSync(path.join(first, '.claude.json'), '{}');
    mkdirSync(path.join(first, 'locked/within'), { recursive: true });
    chmodSync(path.join(first, 'locked'), 0o000);

    const second = await folderOf(agentHome);

    expect(second).not.toBe(first);
    expect(readdirSync(second).toSorted()).toEqual(['.claude.json', 'deep']);
    expect(readFileSync(path.join(second, '.claude.json'), 'utf8')).toContain('true');
    expect(readdirSync(home)).toEqual([path.basename(second)]);
  });

  it('follows no link that a task has put in its place', async () => {
    const [home, elsewhere] = [tempFolder(), tempFolder()];
    const agentHome = createAgentHome(home);
    const first = await folderOf(agentHome);
    await agentHome.clear();
    writeFileSync(path.join(elsewhere, 'kept'), '');
    symlinkSync(elsewhere, first);

    await agentHome.prepare(AGENT, NAMES);
    await agentHome.clear();

    expect(readdirSync(elsewhere)).toEqual(['kept']);
  });

  it('removes a link, and not what it leads to', async () => {
    const [home, elsewhere] = [tempFolder(), tempFolder()];
    const agentHome = createAgentHome(home);
    writeFileSync(path.join(elsewhere, 'kept'), '');
    symlinkSync(elsewhere, path.join(await folderOf(agentHome), 'link'));
    await agentHome.clear();
    expect([readdirSync(home), readdirSync(elsewhere)]).toEqual([[], ['kept']]);
  });

  it('is made and removed also where a task has closed the home to its own user', async () => {
    const home = tempFolder();
    const agentHome = createAgentHome(home);
    chmodSync(home, 0o000);
    expect(await agentHome.prepare(AGENT, NAMES)).toMatchObject(AGENT.env);
    chmodSync(home, 0o000);
    await agentHome.clear();
    expect([modeOf(home), readdirSync(home)]).toEqual([0o700, []]);
  });

  it('is not made where the home is a link', async () => {
    const link = path.join(tempFolder(), 'home');
    symlinkSync(tempFolder(), link);
    await expect(createAgentHome(link).prepare(AGENT, NAMES)).rejects.toThrow('not a folder');
  });

  it.each(['../out', '/out', 'a/../../out', '', '.', '..'])('refuses the path "%s"', async (name) => {
    const home = tempFolder();
    const agentHome = createAgentHome(home);
    const agent = { env: {}, model: null, files: [{ path: name, content: 'made-up-key' }] };
    await expect(agentHome.prepare(agent, NAMES)).rejects.toThrow('not below');
    await agentHome.clear();
    expect(readdirSync(home)).toEqual([]);
  });
});

describe('work with an agent’s home', () => {
  it('has it until the work ends, also with an error', async () => {
    const home = tempFolder();
    const agentHome = createAgentHome(home);
    const seen = await withAgentHome(agentHome, GIVEN, async (own) => existsSync(own['CLAUDE_CONFIG_DIR'] ?? ''));
    expect([seen, readdirSync(home)]).toEqual([true, []]);
    const failing = withAgentHome(agentHome, GIVEN, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(readdirSync(home)).toEqual([]);
  });

  it('has no variables of its own without one', async () => {
    expect(await withAgentHome(undefined, GIVEN, (own) => Promise.resolve(own))).toEqual({});
  });
});
