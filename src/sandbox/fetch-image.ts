import { engineErrors } from '../engines/errors.ts';
import type { Engine } from '../engines/index.ts';
import { hasCode } from '../lib/index.ts';
import { sandboxErrors } from './errors.ts';
import type { Languages } from './languages.ts';
import type { Runtime, Runtimes } from './runtimes.ts';

interface FetchProgress {
  readonly onLine: (image: string, line: string) => void;
  readonly signal: AbortSignal;
}

/** Fetches an image that the engine has not, from its registry. Throws IMAGE_PULL_FAILED. */
export type FetchImage = (image: string) => Promise<void>;

export function imageFetcher(engine: Engine, { onLine, signal }: FetchProgress): FetchImage {
  const fetched = new Map<string, Promise<void>>();
  const fetch = async (image: string): Promise<void> => {
    if ((await engine.inspectImage(image)) !== undefined) return;
    await engine.pullImage(image, (line) => onLine(image, line), signal);
  };
  return (image) => {
    const fetching = fetched.get(image) ?? fetch(image);
    fetched.set(image, fetching);
    return fetching;
  };
}

/** Fetches what sessions run in; resolves with what is wrong with images that cannot be fetched. */
export async function fetchRuntimes(fetch: FetchImage, runtimes: Runtimes): Promise<Error[]> {
  const each = Object.entries(runtimes).map(async ([name, runtime]) => {
    try {
      await fetch(runtime.image);
      return [];
    } catch (error) {
      return [explained(error, missingRuntime(name, runtime))];
    }
  });
  return (await Promise.all(each)).flat();
}

interface Missing {
  readonly image: string;
  /** In the section "serve" of the configuration: the same with an image that can be made without a registry. */
  readonly setting: object;
}

export function missingRuntime(name: string, { image, setup, defaultCommand }: Runtime): Missing {
  const set = setup === null ? {} : { setup };
  const own = { image: localImage(name, image), ...set, default_command: defaultCommand };
  return { image, setting: { runtimes: { [name]: own } } };
}

/** The list of the configuration is the whole one, so all languages are named. */
export function missingLanguage(name: string, languages: Languages): Missing {
  const own = Object.entries(languages).map(([each, language]) => [
    each,
    { ...language, image: localImage(each, language.image) },
  ]);
  return { image: languages[name]?.image ?? name, setting: { languages: Object.fromEntries(own) } };
}

/** An error that tells of a missing image, with what to do about it; any other as it is. */
export function explained(error: unknown, { image, setting }: Missing): Error {
  const isPulled = hasCode(error, engineErrors.IMAGE_PULL_FAILED);
  if (!isPulled && !hasCode(error, engineErrors.IMAGE_MISSING)) return error as Error;
  const reason = isPulled ? error.facts.reason : '';
  return sandboxErrors.SANDBOX_IMAGE_MISSING({ image, reason, setting: JSON.stringify(setting) });
}

const LOCAL: readonly (readonly [RegExp, string])[] = [
  [/^python/, 'python'],
  [/^ruby/, 'ruby'],
  [/^(node|javascript|typescript)/, 'node'],
  [/^(shell|bash|sh)/, 'shell'],
];

/** The image of docker/air-gapped/build-runtimes.sh for it, when it has one. */
function localImage(name: string, image: string): string {
  const found = LOCAL.find(([pattern]) => pattern.test(name));
  return found === undefined ? image : `mahabharatha-${found[1]}:bookworm`;
}
