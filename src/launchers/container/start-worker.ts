import type { Writable } from 'node:stream';
import { engineErrors } from '../../engines/errors.ts';
import type { ContainerInfo, ContainerSpec, Engine } from '../../engines/index.ts';
import { withGitSettings } from '../../git/index.ts';
import { hasCode, libErrors } from '../../lib/index.ts';
import type { Environment } from '../../lib/index.ts';
import type { Handover } from '../../protocol/index.ts';
import type { WorkerSpec } from '../launcher.ts';
import { containerSpec, namesOf } from './container-spec.ts';
import { giveFolders, maskedObjects, writeHosts } from './folders.ts';
import { uidOfWorker } from '../../containers/identity.ts';
import { variablesOf } from '../../containers/image-variables.ts';
import { keepOutput } from '../../containers/output.ts';
import type { Output } from '../../containers/output.ts';
import { removeForSure } from '../../containers/removal.ts';
import { secretsOf } from '../../containers/settings.ts';
import type { ContainerSettings } from '../../containers/settings.ts';

/** The mask of workers that share a cache as a group. */
const SHARED_WITH_GROUP = 0o002;

/** Inside, folders may belong to another number than the one that git runs as; they are ours all the same. */
const TRUSTED_FOLDERS = ['safe.directory', '*'] as const;

/** Made, listened to, started, and told what it must know: in this order nothing of its output is missed. */
export async function startWorker(
  engine: Engine,
  common: ContainerSettings,
  spec: WorkerSpec,
  egress: string | null,
): Promise<{ info: ContainerInfo; output: Output; stdin: Writable }> {
  const settings = { ...common, uid: uidOfWorker(common, spec.worker) };
  await giveFolders(spec, settings.uid, settings.gid);
  if (settings.network === 'none') await writeHosts(spec);
  const imageEnv = await variablesOf(engine, settings.image);
  const found = { masked: await maskedObjects(spec), imageEnv };
  const id = await createUnderAnyName(engine, spec, (name) => containerSpec(name, spec, settings, found));
  try {
    const [info, attachment] = await Promise.all([engine.inspectContainer(id), engine.attach(id)]);
    if (info === undefined) throw libErrors.INTERNAL({ what: `container ${id} is gone before its start` });
    const output = keepOutput(attachment, { ...spec, secrets: secretsOf(settings) });
    attachment.stdin.on('error', () => undefined);
    // What is known by now is there before the worker, which waits for it otherwise.
    const tell = async (): Promise<void> => {
      const told = settings.egress === null ? {} : await settings.egress.env;
      const handover: Handover = { ...handoverOf(spec, settings, { ...forTasks(imageEnv), ...told }), egress };
      attachment.stdin.write(`${JSON.stringify(handover)}\n`);
    };
    await Promise.all([tell(), engine.startContainer(id)]);
    return { info, output, stdin: attachment.stdin };
  } catch (error) {
    await removeForSure(engine, id);
    throw error;
  }
}

async function createUnderAnyName(
  engine: Engine,
  spec: WorkerSpec,
  specFor: (name: string) => ContainerSpec,
): Promise<string> {
  const [first, ...others] = namesOf(spec);
  let taken: unknown;
  for (const name of [first, ...others]) {
    try {
      return await engine.createContainer(specFor(name));
    } catch (error) {
      if (!hasCode(error, engineErrors.CONTAINER_NAME_TAKEN)) throw error;
      taken = error;
    }
  }
  throw taken;
}

function handoverOf(
  spec: WorkerSpec,
  settings: ContainerSettings,
  told: Readonly<Record<string, string>>,
): Omit<Handover, 'egress'> {
  const caches = settings.caches.map((cache) => cache.env);
  const env = withGitSettings(Object.assign({}, told, defined(spec.env), ...caches) as Environment, [TRUSTED_FOLDERS]);
  const umask = settings.apart && caches.length > 0 ? SHARED_WITH_GROUP : null;
  return { version: 2, env: defined(env), umask, secrets: settings.secrets };
}

/** Without what the worker's own container sets. */
function forTasks(imageEnv: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(imageEnv).filter(([name]) => name !== 'HOME' && !name.startsWith('MAHABHARATHA_')),
  );
}

function defined(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
