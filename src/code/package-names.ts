import { codeErrors } from './errors.ts';

/** What is wanted of npm: ranges of versions by name. */
export type Wanted = ReadonlyMap<string, string>;

/** Whichever version is there, and otherwise the last one. */
export const ANY = 'latest';

const LONGEST = 214;
const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
/** A range of versions, or a tag; no address, no path, no other package. */
const RANGE = /^(?!\.)[a-z0-9.*^~<>=| _+-]{1,100}$/i;
/** Files, addresses, and names that a package.json gives to its own parts. */
const NO_PACKAGE = /^(?:[./#]|[a-z][a-z0-9+.-]*:)/i;
/** As in "lodash@4". */
const VERSIONED = /^(@?[^@]+)@(.*)$/;

/** Pure. The packages that imports need. Throws PACKAGE_NAME_INVALID. */
export function packagesOf(specifiers: readonly string[]): string[] {
  const wanted = specifiers.filter((specifier) => specifier !== '' && !NO_PACKAGE.test(specifier));
  return [...new Set(wanted.map(packageOf))];
}

function packageOf(specifier: string): string {
  const [scope = '', name = ''] = specifier.replace(/\?.*$/s, '').split('/');
  const found = specifier.startsWith('@') ? `${scope}/${name}` : scope;
  if (VERSIONED.test(found))
    throw invalid(specifier, 'an import has no version: call install_packages with it, and import the plain name');
  return checkName(found);
}

/** Pure. What a client asks to be installed, as "zod" or "zod@3". Throws PACKAGE_NAME_INVALID. */
export function wantedOf(requests: readonly string[]): Wanted {
  return new Map(
    requests.map((request) => {
      const [, name = request, range = ANY] = VERSIONED.exec(request) ?? [];
      if (!RANGE.test(range)) throw invalid(request, 'what follows "@" is neither a range of versions nor a tag');
      return [checkName(name), range];
    }),
  );
}

function checkName(name: string): string {
  if (name.length > LONGEST || !NAME.test(name) || name.toLowerCase() === 'node_modules')
    throw invalid(name, 'it is no name of a package of npm');
  return name;
}

const invalid = (name: string, reason: string): Error =>
  codeErrors.PACKAGE_NAME_INVALID({ name: name.slice(0, LONGEST), reason });
