import path from 'node:path';
import { createContainers, LABEL, removeOrphans, sweeperStarter } from '../containers/index.ts';
import type { Egress, Owner } from '../containers/index.ts';
import type { Engine, EngineInfo, Labels } from '../engines/index.ts';
import { heldFolders, randomId, stateHome } from '../lib/index.ts';
import type { Environment, HeldFolder } from '../lib/index.ts';
import { runtimeKeeper } from './runtime-place.ts';
import type { SandboxHome } from './sandbox.ts';
import { createUsers } from './users.ts';

export interface HomeFolderRequest {
  readonly engine: Engine;
  readonly kind: 'server' | 'mcp';
  /** The folder of all homes of this kind. */
  readonly folder: string;
  /** On everything of theirs in the engine. */
  readonly labels: Labels;
  readonly onNote: (note: string) => void;
}

interface HomeFolder {
  /** Held as long as this process lives. */
  readonly own: HeldFolder;
  readonly owner: Owner;
}

/** A new owner of sandboxes. What processes of this kind have left that were killed is removed before. */
export async function openHomeFolder(request: HomeFolderRequest): Promise<HomeFolder> {
  const { engine, kind, labels, onNote } = request;
  const folders = heldFolders(request.folder);
  const wanted = { [LABEL.kind]: kind, ...labels };
  const left = await removeOrphans(engine, { labels: wanted, isAlive: ({ id }) => folders.isAlive(id) });
  left.forEach(onNote);
  await folders.clearGone();
  const own = await folders.make(`${kind}-${randomId()}`);
  const { id, folder } = own;
  const places = { leaseFolder: path.join(folder, 'lease'), egressLog: path.join(folder, 'egress.jsonl') };
  return { own, owner: { id, kind, labels, ...places } };
}

export interface HomeRequest {
  readonly engine: Engine;
  /** The image with Node and the sandbox agent. */
  readonly runtimeImage: { readonly tag: string; readonly id: string };
  /** The program that removes what this process leaves behind when it is killed. */
  readonly sweeper: string;
  readonly env: Environment;
  /** The way out of its sandboxes; null for none. */
  readonly egress: Egress | null;
}

export interface OpenHome extends SandboxHome, Pick<EngineInfo, 'lacks'> {}

/** What the sandboxes of this owner need. `closing` gets the step that removes them. */
export async function openHome(
  { own, owner }: HomeFolder,
  { engine, runtimeImage, sweeper, env, egress }: HomeRequest,
  closing: (() => Promise<unknown>)[],
): Promise<OpenHome> {
  const startSweeper = sweeperStarter({ program: sweeper, lock: own.lock, leaseMs: 0, folder: own.folder, env });
  const containers = createContainers({ engine, egress, volumes: [], startSweeper });
  closing.push(() => containers.sweep(owner.id));
  const { lacks, mapsUsers } = await engine.info();
  const runtime = runtimeKeeper(engine, runtimeImage, { folder: runtimesHome(env), lacks });
  await runtime();
  return { engine, owner, containers, runtime, users: createUsers({ mapsUsers }), lacks };
}

/** Where sandboxes get Node and their agent from, when no volume of the engine can have them. */
const runtimesHome = (env: Environment): string => path.join(stateHome(env), 'runtimes');
