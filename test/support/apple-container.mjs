#!/usr/bin/env node
// Stands for Apple's program `container`: takes its grammar and no other, answers in its forms, and runs the containers
// with `docker`. Settings: APPLE_VERSION (before 1.0 the forms are the old ones), APPLE_HANG (a pattern: such a call hangs),
// APPLE_HANGS_AT_END (an attached start hangs after the end of its container), APPLE_STOPPED (the services are not running),
// APPLE_BABBLE (a pattern: such a call prints something unknown).
import { create, exec, inspect, kill, list, logs, remove, start } from './apple-containers.mjs';
import { VERSION, dockerOrRefuse, fullName, isOld, print, shortName } from './apple-docker.mjs';
import { parseCommand } from './apple-grammar.mjs';
import {
  build,
  createVolume,
  inspectImages,
  listImages,
  listVolumes,
  removeImage,
  removeVolume,
} from './apple-images.mjs';

const words = process.argv.slice(2);
const matches = (pattern) => pattern !== undefined && new RegExp(pattern).test(words.join(' '));

const COMMANDS = {
  '--version': () => print(`container CLI version ${VERSION} (build: release, commit: 0e2d8bc)`),
  'system status': () => print('apiserver is running'),
  create,
  start,
  inspect,
  list,
  kill,
  delete: remove,
  exec,
  logs,
  build,
  'image list': listImages,
  'image inspect': inspectImages,
  'image tag': ({ rest: [from, to] }) => {
    dockerOrRefuse(['tag', shortName(from), shortName(to)]);
    print(fullName(to));
  },
  'image delete': removeImage,
  'image pull': ({ rest: [name] }) => print(dockerOrRefuse(['pull', shortName(name)])),
  'volume create': createVolume,
  'volume list': listVolumes,
  'volume delete': removeVolume,
};

function main() {
  if (matches(process.env.APPLE_HANG)) return void setInterval(() => undefined, 1_000_000);
  if (matches(process.env.APPLE_BABBLE)) return print('{"unknown": [true');
  const command = parseCommand(words, isOld);
  if (process.env.APPLE_STOPPED !== undefined && command.name !== '--version') {
    if (command.name === 'system status') print('apiserver is not running and not registered with launchd');
    else
      process.stderr.write(
        'Error: interrupted: "XPC connection error: Connection invalid"\nEnsure container system service has been started with `container system start`.\n',
      );
    process.exit(1);
  }
  COMMANDS[command.name](command);
}

try {
  main();
} catch (error) {
  process.stderr.write(`Error: ${error.message}\n${error.usage ?? ''}`);
  process.exitCode = error.exitCode ?? 1;
}
