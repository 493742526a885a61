import { hostname } from 'node:os';
import path from 'node:path';
import { createCodeSessions, openPackages, wantedOf } from '../code/index.ts';
import type { McpSettings } from '../config/index.ts';
import type { Engine } from '../engines/index.ts';
import { atHome, stateHome } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { programFile } from '../project/index.ts';
import { openHome, openHomeFolder, openNetwork } from '../sandbox/index.ts';
import type { CodeRunner } from './code-runner.ts';

interface ContainersRequest {
  readonly engine: Engine;
  /** The image with Node and the sandbox agent. */
  readonly runtimeImage: { readonly tag: string; readonly id: string };
  /** The image with Bun. */
  readonly image: string;
  readonly settings: McpSettings;
  readonly env: Environment;
  readonly onNote: (note: string) => void;
}

/** Code runs in containers. `closing` gets the steps that remove them. */
export async function openContainers(
  request: ContainersRequest,
  closing: (() => Promise<unknown>)[],
): Promise<CodeRunner> {
  const { engine, runtimeImage, image, env, onNote } = request;
  const folder = path.join(stateHome(env), 'mcp');
  const labels = { 'mahabharatha.mcp': folder, 'mahabharatha.machine': hostname() };
  const place = await openHomeFolder({ engine, kind: 'mcp', folder, labels, onNote });
  closing.push(place.own.remove);
  const audience = { setting: null, who: 'installers' };
  const asked = { allow: ['npm'], audience, env, owner: place.owner, image: runtimeImage.id, onNote };
  const network = openNetwork(asked, closing);
  const known = { engine, runtimeImage, sweeper: programFile('sweeper'), env, egress: network.egress };
  const home = await openHome(place, known, closing);
  const { packages: wished } = request.settings;
  const store = { folder: atHome(wished.folder, env), bytes: wished.disk, scripts: wished.allow_scripts, image };
  const isAble = !home.lacks.includes('volumes-for-many');
  const packages = await openPackages(store, isAble ? { home, network, image } : null);
  const { cpus, memory: memoryBytes, disk: diskBytes, processes, output: outputBytes } = request.settings;
  const limits = { cpus, memoryBytes, diskBytes, processes };
  const sessions = createCodeSessions({ home, packages, settings: { image, limits, outputBytes } });
  closing.push(sessions.closeAll);
  const { run, reset, list } = sessions;
  const install: NonNullable<CodeRunner['packages']>['install'] = async (session, requests, hooks) =>
    sessions.install(session, wantedOf(requests), hooks);
  return { mode: 'container', run, reset, packages: { install, list } };
}
