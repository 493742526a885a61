import { z } from 'zod';
import { readJson } from '../lib/index.ts';
import type { Labels } from '../engines/index.ts';

/** One label for all parts, because each label is a step of the build. */
const PARTS_LABEL = 'mahabharatha.parts';

/** A version, a hash, a platform or an image's name, and nothing else: labels may be forged, and their values are printed. */
const word = z
  .string()
  .max(512)
  .regex(/^[\w.+:/@[\]-]*$/);

/** All that the content of a worker image depends on. The image carries it, so that a difference can be named. */
const partsSchema = z.object({
  version: word,
  program: word,
  recipe: word,
  /** Programs that were fetched. Empty: it does not have it, as images of older versions. */
  claude: word,
  codex: word.default(''),
  gemini: word.default(''),
  opencode: word.default(''),
  bun: word.default(''),
  base: word,
  /** Empty when the base was not on this machine. */
  baseId: word,
  certificates: word,
  /** Empty: the engine's own. */
  platform: word,
});
export type Parts = Readonly<z.infer<typeof partsSchema>>;

export function partsLabel(parts: Parts): Labels {
  return { [PARTS_LABEL]: JSON.stringify(parts) };
}

/** Undefined when it is not our image, or of a version with other parts. */
export function partsOf(labels: Labels): Parts | undefined {
  return readJson(partsSchema, labels[PARTS_LABEL]);
}

/** The reason when the content differs and all parts are equal or unknown. */
export const NOT_OURS = 'it was not built by this "mahabharatha build"';

const platformName = (platform: string): string => (platform === '' ? "the engine's own platform" : platform);

function programWords(title: string) {
  return (wanted: string, found: string): string => {
    if (found === '') return `it does not have ${title} ${wanted}`;
    return wanted === ''
      ? `it has ${title} ${found}, which is not wanted`
      : `it has ${title} ${found}, wanted is ${wanted}`;
  };
}

const IN_WORDS: { readonly [Name in keyof Parts]: (wanted: string, found: string) => string } = {
  version: (wanted, found) => `it was built by Mahabharatha ${found}, this is ${wanted}`,
  program: () => 'its program has changed',
  recipe: () => 'its Dockerfile or a script of it has changed',
  claude: programWords('Claude Code'),
  codex: programWords('Codex'),
  gemini: programWords('Gemini CLI'),
  opencode: programWords('OpenCode'),
  bun: programWords('Bun'),
  base: (wanted, found) => `its base is ${found}, wanted is ${wanted}`,
  baseId: (wanted, found) => `its base ${found.slice(0, 19)} has been replaced by ${wanted.slice(0, 19)}`,
  certificates: () => "this machine's extra certificates (NODE_EXTRA_CA_CERTS) have changed",
  platform: (wanted, found) => `it is for ${platformName(found)}, wanted is ${platformName(wanted)}`,
};

/** Each difference in words. An unknown part is no difference: the base may have been removed since. */
export function differences(wanted: Parts, found: Parts): string[] {
  const baseUnknown = wanted.base !== found.base || wanted.baseId === '' || found.baseId === '';
  const names = Object.keys(IN_WORDS) as (keyof Parts)[];
  return names
    .filter((name) => wanted[name] !== found[name] && !(name === 'baseId' && baseUnknown))
    .map((name) => IN_WORDS[name](wanted[name], found[name]));
}
