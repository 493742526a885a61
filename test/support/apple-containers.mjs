import { spawn } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import {
  MARK,
  Refusal,
  docker,
  dockerOrRefuse,
  fullName,
  isOld,
  print,
  printJson,
  shortName,
  wordsOf,
} from './apple-docker.mjs';

function inspected(names) {
  if (names.length === 0) return [];
  const found = docker(['container', 'inspect', ...names]);
  return JSON.parse(found.stdout || '[]').filter(({ Config }) => Config.Labels?.[MARK] === '1');
}

const STATES = { created: 'stopped', exited: 'stopped', running: 'running' };

function toContainer({ Name, Config, State, Image, Created }) {
  const { [MARK]: _, ...labels } = Config.Labels;
  const id = Name.slice(1);
  const startedDate = State.StartedAt.startsWith('0001') ? undefined : State.StartedAt;
  const state = STATES[State.Status] ?? 'stopping';
  const configuration = {
    id,
    labels,
    image: { reference: fullName(Config.Image), descriptor: { digest: Image, size: 1, mediaType: 'x' } },
    ...(isOld ? {} : { creationDate: Created }),
  };
  if (isOld) return { status: state, networks: [], configuration, ...(startedDate ? { startedDate } : {}) };
  return { id, configuration, status: { state, networks: [], ...(startedDate ? { startedDate } : {}) } };
}

function known(name) {
  return inspected([name]).find(({ Name }) => Name === `/${name}`);
}

function mountArguments(text) {
  const parts = text.split(',').map((part) => part.split('='));
  const named = Object.fromEntries(parts.map(([key, value]) => [key, value ?? true]));
  const keys = new Set(['type', 'source', 'src', 'destination', 'dst', 'target', 'readonly', 'ro', 'size', 'mode']);
  for (const [key, ...values] of parts) {
    if (!keys.has(key)) throw new Refusal('invalidArgument', `unknown directive ${key} when parsing mount ${text}`);
    if (values.length > 1)
      throw new Refusal('invalidArgument', `invalid directive format missing value ${key} in ${text}`);
  }
  const { type = 'virtiofs', source, destination, size, mode, readonly } = named;
  if (type === 'tmpfs') return ['--tmpfs', `${destination}:rw,exec,size=${size},mode=${mode}`];
  if (type !== 'volume') expectPath(source);
  const kind = type === 'volume' ? 'volume' : 'bind';
  const empty = kind === 'volume' ? ',volume-nocopy' : '';
  return ['--mount', `type=${kind},source=${source},destination=${destination}${empty}${readonly ? ',readonly' : ''}`];
}

function expectPath(source) {
  if (!existsSync(source)) throw new Refusal('invalidArgument', `path '${source}' does not exist`);
}

function volumeArguments(text) {
  const parts = text.split(':');
  if (parts.length > 3) throw new Refusal('invalidArgument', `invalid volume format ${text}`);
  if (parts[0].includes('/')) expectPath(parts[0]);
  return ['--volume', text];
}

export function labelArguments(label) {
  if (label.split('=').length > 2) throw new Refusal('invalidArgument', `invalid label format ${label}`);
  return ['--label', label];
}

function memoryArguments(text) {
  const bytes = Number.parseInt(text, 10) * ({ K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[text.at(-1)] ?? 1);
  if (bytes < 200 * 2 ** 20)
    throw new Refusal('invalidArgument', `minimum memory amount allowed is 200 MiB (got ${bytes} bytes)`);
  return ['--memory', String(bytes), '--memory-swap', String(bytes)];
}

/** A virtual machine has users of its own: the processes of a container stand for those of a user there. */
function limitArguments(text) {
  const [name, limit] = text.split('=');
  return name === 'nproc' ? ['--pids-limit', limit.split(':')[0]] : ['--ulimit', text];
}

export function create({ options, rest }) {
  const { name } = options;
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/.test(name) || name.length > 63)
    throw new Refusal('invalidArgument', `container ID ${name} is not a valid container ID`);
  const [image, ...command] = rest;
  const many = (key, make) => (options[key] ?? []).flatMap(make);
  const one = (key) => (options[key] === undefined ? [] : [`--${key}`, options[key]]);
  const flag = (key) => (options[key] ? [`--${key}`] : []);
  const user = options.uid === undefined ? [] : ['--user', `${options.uid}:${options.gid ?? options.uid}`];
  const args = [
    'create',
    '--name',
    name,
    '--label',
    `${MARK}=1`,
    ...['rm', 'interactive', 'read-only', 'init'].flatMap(flag),
    ...['cpus', 'network', 'workdir', 'entrypoint'].flatMap(one),
    ...(options.memory === undefined ? [] : memoryArguments(options.memory)),
    ...user,
    ...many('cap-drop', (right) => ['--cap-drop', right]),
    ...many('cap-add', (right) => ['--cap-add', right]),
    ...many('ulimit', limitArguments),
    ...many('env', (pair) => ['--env', pair]),
    ...many('mount', mountArguments),
    ...many('volume', volumeArguments),
    ...many('label', labelArguments),
    shortName(image),
    ...command,
  ];
  const { code, stderr } = docker(args);
  if (code === 0) return print(name);
  if (/already in use/.test(stderr)) throw new Refusal('exists', `container with id ${name} already exists`);
  throw new Refusal('internalError', wordsOf(stderr));
}

export function start({ options, rest: [name] }) {
  const there = known(name);
  if (there === undefined) throw new Refusal('notFound', `container not found: ${name}`);
  const attach = options.attach || options.interactive;
  if (there.State.Status === 'running') {
    if (attach) throw new Refusal('invalidArgument', 'attach is currently unsupported on already running containers');
    return print(name);
  }
  expectFreeVolumes(there);
  if (!attach) {
    dockerOrRefuse(['start', name]);
    return print(name);
  }
  const args = ['start', '--attach', ...(options.interactive ? ['--interactive'] : []), name];
  return pass(args, [options.interactive ? 'inherit' : 'ignore', 'inherit', 'pipe'], { isStart: true });
}

/** A volume is a disk, which one virtual machine has, also when it only reads it (apple/container#889). */
function expectFreeVolumes({ Mounts, Id }) {
  const wanted = Mounts.filter(({ Type }) => Type === 'volume').map(({ Name }) => Name);
  if (wanted.length === 0) return;
  const running = dockerOrRefuse(['ps', '-q', '--no-trunc', '--filter', `label=${MARK}=1`])
    .split('\n')
    .filter(Boolean);
  for (const other of inspected(running.filter((id) => id !== Id))) {
    const taken = other.Mounts.find(({ Name }) => wanted.includes(Name));
    if (taken === undefined) continue;
    throw new Refusal(
      'internalError',
      `failed to bootstrap container: the storage device attachment of volume '${taken.Name}' is invalid`,
    );
  }
}

/** Docker's words in a refusal become Apple's; all else passes. */
function pass(args, stdio, { isStart = false } = {}) {
  const child = spawn('docker', args, { stdio });
  let refused = '';
  let first = true;
  child.stderr.on('data', (chunk) => {
    if (first && String(chunk).startsWith('Error')) refused += String(chunk);
    else if (refused === '') process.stderr.write(chunk);
    first = false;
  });
  child.once('close', (code) => {
    if (isStart && process.env.APPLE_HANGS_AT_END !== undefined) return hang();
    process.exitCode = refused === '' ? (code ?? 137) : 1;
    if (refused === '') return;
    process.stderr.write(`Error: internalError: "${wordsOf(refused)}"\n`);
  });
}

function hang() {
  for (const output of [1, 2]) closeSync(output);
  setInterval(() => undefined, 1_000_000);
}

export function inspect({ rest }) {
  const found = rest.map((name) => known(name));
  const missing = rest.filter((_, index) => found[index] === undefined);
  if (isOld || missing.length === 0) return printJson(found.filter(Boolean).map(toContainer));
  throw new Refusal('notFound', `container not found: ${missing.join(', ')}`);
}

export function list({ options }) {
  const all = options.all ? ['--all'] : [];
  const ids = dockerOrRefuse(['ps', ...all, '-q', '--no-trunc', '--filter', `label=${MARK}=1`])
    .split('\n')
    .filter(Boolean);
  printJson(inspected(ids).map(toContainer));
}

export function kill({ options, rest: [name] }) {
  if (known(name) === undefined) {
    process.stderr.write(`Error: No such container: ${name}\n`);
    process.exitCode = 1;
    return;
  }
  dockerOrRefuse(['kill', '--signal', options.signal ?? 'KILL', name]);
  print(name);
}

export function remove({ options, rest: [name] }) {
  if (known(name) === undefined) throw new Refusal('notFound', `failed to delete one or more containers: ["${name}"]`);
  dockerOrRefuse(['rm', ...(options.force ? ['--force'] : []), name]);
  print(name);
}

export function exec({ options, rest: [name, ...command] }) {
  if (known(name)?.State.Status !== 'running') throw new Refusal('invalidState', `container ${name} is not running`);
  const args = [
    'exec',
    ...(options.interactive ? ['--interactive'] : []),
    ...(options.workdir === undefined ? [] : ['--workdir', options.workdir]),
    ...(options.env ?? []).flatMap((pair) => ['--env', pair]),
    name,
    ...command,
  ];
  pass(args, [options.interactive ? 'inherit' : 'ignore', 'inherit', 'pipe']);
}

export function logs({ options, rest: [name] }) {
  if (known(name) === undefined) throw new Refusal('notFound', `container not found: ${name}`);
  const lines = options.n === undefined ? [] : ['--tail', options.n];
  const child = spawn('docker', ['logs', ...(options.follow ? ['--follow'] : []), ...lines, name], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  child.stderr.pipe(process.stdout);
  // The real one follows for ever.
  child.once('close', (code) => {
    process.exitCode = code ?? 1;
    if (options.follow) setInterval(() => undefined, 1_000_000);
  });
}
