// The grammar of the commands of Apple's `container` that the engine uses, and no more of it.

class UsageError extends Error {
  exitCode = 64;

  constructor(message, name) {
    super(message);
    this.usage = `Usage: container ${name} [<options>]\n  See 'container ${name} --help' for more information.\n`;
  }
}

const FLAG = 'flag';
const ONE = 'one';
const MANY = 'many';

const PROCESS = {
  env: MANY,
  'env-file': MANY,
  gid: ONE,
  interactive: FLAG,
  tty: FLAG,
  user: ONE,
  uid: ONE,
  workdir: ONE,
};
const CREATE = {
  ...PROCESS,
  cpus: ONE,
  memory: ONE,
  cidfile: ONE,
  dns: MANY,
  entrypoint: ONE,
  init: FLAG,
  label: MANY,
  mount: MANY,
  name: ONE,
  network: ONE,
  'no-dns': FLAG,
  platform: ONE,
  publish: MANY,
  'read-only': FLAG,
  rm: FLAG,
  ssh: FLAG,
  tmpfs: MANY,
  volume: MANY,
};
const SINCE_1 = { 'cap-add': MANY, 'cap-drop': MANY, 'shm-size': ONE, ulimit: MANY };
const BUILD = {
  'build-arg': MANY,
  cpus: ONE,
  file: ONE,
  label: MANY,
  memory: ONE,
  'no-cache': FLAG,
  platform: ONE,
  progress: ONE,
  quiet: FLAG,
  tag: ONE,
  target: ONE,
};

/** Options, the fewest and the most arguments, and whether all after the first of those passes unread. */
const GRAMMAR = {
  '--version': [{}, 0, 0],
  'system status': [{ prefix: ONE }, 0, 0],
  create: [CREATE, 1, Infinity, 1],
  start: [{ attach: FLAG, interactive: FLAG }, 1, 1],
  inspect: [{}, 1, Infinity],
  list: [{ all: FLAG, format: ONE, quiet: FLAG }, 0, 0],
  kill: [{ all: FLAG, signal: ONE }, 1, Infinity],
  delete: [{ all: FLAG, force: FLAG }, 1, Infinity],
  exec: [{ ...PROCESS, detach: FLAG }, 2, Infinity, 1],
  logs: [{ boot: FLAG, follow: FLAG, n: ONE }, 1, 1],
  build: [BUILD, 0, 1],
  'image list': [{ format: ONE, quiet: FLAG, verbose: FLAG }, 0, 0],
  'image inspect': [{}, 1, Infinity],
  'image tag': [{}, 2, 2],
  'image delete': [{ all: FLAG, force: FLAG }, 1, Infinity],
  'image pull': [{ scheme: ONE, progress: ONE, arch: ONE, os: ONE, platform: ONE }, 1, 1],
  'volume create': [{ label: MANY, opt: MANY, s: ONE }, 1, 1],
  'volume list': [{ format: ONE, quiet: FLAG }, 0, 0],
  'volume delete': [{ all: FLAG }, 1, Infinity],
};

const VALUES = {
  cpus: /^\d+$/,
  uid: /^\d+$/,
  gid: /^\d+$/,
  n: /^\d+$/,
  format: /^(json|table)$/,
  memory: /^\d+[KMGTP]?$/,
  network: /^(none|default)$/,
};

export function parseCommand(words, isOld) {
  const [first = '', second = ''] = words;
  const name = [first, `${first} ${second}`].find((each) => each in GRAMMAR);
  if (name === undefined) throw new UsageError(`Unknown command or option: ${first} ${second}`, first);
  const [known, fewest, most, passes = Infinity] = GRAMMAR[name];
  const allowed = name === 'create' && !isOld ? { ...known, ...SINCE_1 } : known;
  const { options, rest } = parse(words.slice(name.split(' ').length), allowed, passes, name);
  if (rest.length < fewest) throw new UsageError(`Missing expected argument`, name);
  if (rest.length > most) throw new UsageError(`Unexpected argument '${rest[most]}'`, name);
  return { name, options, rest };
}

function parse(words, allowed, passes, name) {
  const options = {};
  const rest = [];
  const left = [...words];
  while (left.length > 0 && rest.length < passes) {
    const word = left.shift();
    if (!word.startsWith('-')) {
      rest.push(word);
      continue;
    }
    const option = /^--[a-z]|^-n$/.test(word) ? word.replace(/^--?/, '') : undefined;
    const kind = option === undefined ? undefined : allowed[option];
    if (kind === undefined) throw new UsageError(`Unknown option '${word}'`, name);
    if (kind === FLAG) options[option] = true;
    else {
      const value = left.shift();
      if (value === undefined) throw new UsageError(`Missing value for '${word} <${option}>'`, name);
      if (VALUES[option]?.test(value) === false)
        throw new UsageError(`The value '${value}' is invalid for '${word} <${option}>'`, name);
      options[option] = kind === ONE ? value : [...(options[option] ?? []), value];
    }
  }
  return { options, rest: [...rest, ...left] };
}
