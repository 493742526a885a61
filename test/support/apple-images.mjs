import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
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
} from './apple-docker.mjs';
import { labelArguments } from './apple-containers.mjs';

const descriptor = (digest) => ({ digest, size: 1, mediaType: 'application/vnd.oci.image.index.v1+json' });

export function listImages() {
  const rows = dockerOrRefuse(['image', 'ls', '--no-trunc', '--format', '{{.Repository}}:{{.Tag}} {{.ID}}']).split(
    '\n',
  );
  const images = rows
    .map((row) => row.split(' '))
    .filter(([name = '<none>']) => !name.includes('<none>') && name !== '');
  printJson(
    images.map(([name, id]) =>
      isOld
        ? { reference: fullName(name), descriptor: descriptor(id), fullSize: '1 MB' }
        : {
            id: id.replace('sha256:', ''),
            configuration: { name: fullName(name), descriptor: descriptor(id) },
            variants: [],
          },
    ),
  );
}

export function inspectImages({ rest }) {
  const found = rest.map((name) => JSON.parse(docker(['image', 'inspect', shortName(name)]).stdout || '[]')[0]);
  const printable = found.flatMap((image, index) => (image === undefined ? [] : [toImage(image, rest[index])]));
  if (printable.length > 0) printJson(printable);
  const missing = rest.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) throw new Refusal('notFound', `image not found: ${missing.join(', ')}`);
}

function toImage({ Id, Config, Architecture, Os, Created, Size }, name) {
  const { User, Env, Labels } = Config;
  const config = {
    created: Created,
    architecture: Architecture,
    os: Os,
    config: { User, Env, Labels: Labels ?? undefined },
  };
  const variants = [{ platform: { os: Os, architecture: Architecture }, size: Size, config }];
  if (isOld) return { name: fullName(name), index: descriptor(Id), variants };
  return {
    id: Id.replace('sha256:', ''),
    configuration: { name: fullName(name), descriptor: descriptor(Id) },
    variants,
  };
}

export function removeImage({ rest: [name] }) {
  if (docker(['image', 'inspect', shortName(name)]).code !== 0)
    throw new Refusal('internalError', `failed to delete one or more images: ["${name}"]`);
  dockerOrRefuse(['image', 'rm', '--force', shortName(name)]);
  print(`${fullName(name)}\nReclaimed Zero KB in disk space`);
}

export function build({ options, rest: [folder] }) {
  if (statSync(options.file).size >= 16 * 1024)
    throw new Refusal('invalidArgument', 'Dockerfile size exceeds 16384 bytes');
  const pairs = (key) => (options[key] ?? []).flatMap((pair) => [`--${key}`, pair]);
  const args = [
    'build',
    '--tag',
    options.tag,
    '--file',
    options.file,
    ...pairs('label'),
    ...pairs('build-arg'),
    ...(options['no-cache'] ? ['--no-cache'] : []),
    ...(options.platform === undefined ? [] : ['--platform', options.platform]),
    path.resolve(folder),
  ];
  const child = spawn('docker', args, {
    env: { ...process.env, DOCKER_BUILDKIT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop();
    for (const each of lines) process.stderr.write(`#5 ${/^Step \d/.test(each) ? '' : '0.123 '}${each}\n`);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => (complaint += chunk));
  child.once('close', (code) => {
    process.exitCode = code === 0 ? 0 : 1;
    if (code === 0) return;
    const said = complaint
      .split('\n')
      .filter((each) => each.trim() !== '')
      .at(-1);
    process.stderr.write(`Error: unknown: "${said}"\n`);
  });
}

export function createVolume({ options, rest: [name] }) {
  if (docker(['volume', 'inspect', name]).code === 0) throw new Refusal('exists', `volume '${name}' already exists`);
  dockerOrRefuse(['volume', 'create', '--label', `${MARK}=1`, ...(options.label ?? []).flatMap(labelArguments), name]);
  print(name);
}

export function listVolumes() {
  const names = dockerOrRefuse(['volume', 'ls', '-q', '--filter', `label=${MARK}=1`])
    .split('\n')
    .filter(Boolean);
  const found = names.length === 0 ? [] : JSON.parse(docker(['volume', 'inspect', ...names]).stdout || '[]');
  printJson(
    found.map(({ Name, Labels, CreatedAt, Mountpoint }) => {
      const { [MARK]: _, ...labels } = Labels;
      const volume = { name: Name, driver: 'local', format: 'ext4', source: Mountpoint, labels, options: {} };
      return isOld ? { ...volume, createdAt: 0 } : { id: Name, configuration: { ...volume, creationDate: CreatedAt } };
    }),
  );
}

export function removeVolume({ rest: [name] }) {
  if (docker(['volume', 'inspect', name]).code !== 0)
    throw new Refusal('notFound', `failed to delete one or more volumes: ["${name}"]`);
  dockerOrRefuse(['volume', 'rm', name]);
  print(name);
}
