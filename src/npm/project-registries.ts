import path from 'node:path';
import { hasCode, libErrors, readUntrusted } from '../lib/index.ts';
import { registriesOfNpmrc } from './npmrc.ts';

const LIMIT_BYTES = 64 * 1024;
const LIMIT_ENTRIES = 50;

export interface ProjectRegistries {
  /** The default one, without a scope. */
  readonly registry?: string;
  readonly addresses: readonly URL[];
  /** What is ignored, and why. */
  readonly warnings: readonly string[];
}

/** Reads the repository's own .npmrc as text: npm would obey it, and fill in variables of the user's environment. */
export async function readProjectRegistries(repository: string): Promise<ProjectRegistries> {
  const file = path.join(repository, '.npmrc');
  try {
    const text = await readUntrusted(file, LIMIT_BYTES);
    return text === undefined ? { addresses: [], warnings: [] } : followed(text);
  } catch (error) {
    if (!hasCode(error, libErrors.FILE_UNREADABLE)) throw error;
    return { addresses: [], warnings: [`${SUBJECT} is not read: ${error.facts.reason}.`] };
  }
}

const SUBJECT = 'The .npmrc of the repository';

function followed(text: string): ProjectRegistries {
  const entries = registriesOfNpmrc(text);
  if (entries.length > LIMIT_ENTRIES) {
    const warning = `${SUBJECT} is not followed: it names ${entries.length} registries, the limit is ${LIMIT_ENTRIES}.`;
    return { addresses: [], warnings: [warning] };
  }
  const good = entries.flatMap(({ key, address }) => (address instanceof URL ? [{ key, address }] : []));
  const registry = good.find(({ key }) => key === 'registry')?.address.href;
  const warnings = entries.flatMap(({ line, key, address }) =>
    address instanceof URL ? [] : [`${SUBJECT}: line ${line} ("${key}") is not followed: ${address}.`],
  );
  return { ...(registry === undefined ? {} : { registry }), addresses: good.map(({ address }) => address), warnings };
}
