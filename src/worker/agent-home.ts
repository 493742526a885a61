import { chmod, lstat, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Agent } from '../agents/index.ts';
import { openEgressDoor } from '../egress/door/index.ts';
import { makeFolder } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { EGRESS_SOCKET } from '../protocol/index.ts';
import type { Credentials } from '../protocol/index.ts';
import { removeIfPossible } from './remove-tree.ts';

export type AgentHome = ReturnType<typeof createAgentHome>;

/**
 * Where an agent finds its configuration and its credentials: a new folder for every attempt. What a task has written into
 * the last one (hooks, permissions, servers to be started) is never read again.
 */
export function createAgentHome(home: string) {
  let folder: string | undefined;
  const clear = async (): Promise<void> => {
    // A task may have closed the home to its own user. When we cannot change it, the task could not either.
    await chmod(home, 0o700).catch(() => undefined);
    if (folder === undefined) return;
    await removeIfPossible(folder);
    folder = undefined;
  };
  return {
    /** Removes it, so that what runs after the agent does not find it. */
    clear,
    /** Makes a new one with the agent's files; returns the variables for the agent's environment. */
    prepare: async (agent: Credentials['agent'], names: Agent['home']): Promise<Environment> => {
      if (!(await lstat(home)).isDirectory()) throw new Error(`the home ${home} is not a folder`);
      await clear();
      folder = await mkdtemp(path.join(home, '.agent-'));
      return seedAgentHome(folder, agent, names);
    },
  };
}

interface Given {
  readonly agent: Credentials['agent'];
  /** Variables that name its home. */
  readonly names: Agent['home'];
}

/** The agent has its home and its way to the model only while it works. Without one it has the same environment as every job. */
export async function withAgentHome<Value>(
  agentHome: AgentHome | undefined,
  given: Given | undefined,
  work: (own: Environment) => Promise<Value>,
): Promise<Value> {
  if (agentHome === undefined || given === undefined) return work({});
  const { agent, names } = given;
  const door = agent.model === null ? undefined : await openModelDoor(agent.model);
  try {
    const own = await agentHome.prepare(agent, names);
    return await work(door === undefined ? own : { ...own, ANTHROPIC_BASE_URL: door.url });
  } finally {
    door?.close();
    await agentHome.clear();
  }
}

/** A port of our own choice: a task cannot take it beforehand. */
async function openModelDoor(proof: NonNullable<Credentials['agent']['model']>) {
  const door = await openEgressDoor({ ...proof, way: 'model', port: 0, socket: EGRESS_SOCKET });
  return { url: `http://127.0.0.1:${door.port}`, close: door.close };
}

/** Writes the files into a new, empty folder. */
async function seedAgentHome(folder: string, agent: Credentials['agent'], names: Agent['home']): Promise<Environment> {
  for (const { path: name, content } of agent.files) {
    const file = placeOf(folder, name);
    await makeFolder(path.dirname(file), 0o700);
    // Fails where there is something already, also a link.
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
  }
  return { ...agent.env, ...Object.fromEntries(names.map((name) => [name, folder])) };
}

function placeOf(folder: string, name: string): string {
  const file = path.resolve(folder, name);
  if (path.isAbsolute(name) || !file.startsWith(folder + path.sep)) {
    throw new Error(`the credentials have a file that is not below the agent's folder: ${name}`);
  }
  return file;
}
