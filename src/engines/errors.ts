import { defineErrors } from '../lib/app-error.ts';
import { inSeconds } from '../lib/text/amounts.ts';
import { bullets, indented } from '../lib/text/words.ts';

export const START_DOCKER =
  "Start Docker (Linux: sudo systemctl start docker; macOS: open -a Docker), or say where it is with DOCKER_HOST. On a Mac with Apple's container: container system start.";

export const engineErrors = defineErrors({
  CONTAINER_NAME_TAKEN: {
    kind: 'environment',
    example: { name: 'mahabharatha-worker-0' },
    message: (f) => `There is a container called "${f.name}" already.`,
    hint: (f) =>
      `See what it is with: docker inspect ${f.name} — when it is not needed, remove it with: docker rm --force ${f.name}`,
  },
  ENGINE_FAILED: {
    kind: 'environment',
    example: { call: 'start container x', reason: 'no room' },
    message: (f) => `The container engine could not ${f.call}: ${f.reason}.`,
    hint: () =>
      "See the state of the engine with: docker info — its log says more: journalctl --unit docker. Apple's: container system status, container system logs",
  },
  ENGINE_TIMEOUT: {
    kind: 'environment',
    example: { call: 'list containers', place: '/var/run/docker.sock', waitedMs: 15_000 },
    message: (f) =>
      `The container engine at ${f.place} was asked to ${f.call} and has not answered within ${inSeconds(f.waitedMs)}.`,
    hint: () =>
      "It hangs or is overloaded. Try: docker ps (Apple's: container list) — when that hangs, too, restart the engine.",
  },
  ENGINE_UNREACHABLE: {
    kind: 'environment',
    example: { tried: ['/var/run/docker.sock: nothing listens there', 'tcp://x:1: no such host'] },
    message: (f) => `No container engine can be reached:${bullets(f.tried)}`,
    hint: () => START_DOCKER,
  },
  IMAGE_BUILD_FAILED: {
    kind: 'environment',
    example: { image: 'x:1', reason: 'exit 7', output: ['Step 2/2 : RUN exit 7', 'no room'] },
    message: (f) => `Building the image ${f.image} failed: ${f.reason}${indented(f.output)}`,
    hint: () => 'Correct what the last lines complain about, then build again with: mahabharatha build',
  },
  IMAGE_PULL_FAILED: {
    kind: 'environment',
    example: { image: 'python:3.10-slim', reason: 'lookup registry-1.docker.io: no such host' },
    message: (f) => `The image ${f.image} could not be fetched: ${f.reason}.`,
    hint: () => 'Is its registry reachable from here? Try: docker pull',
  },
  IMAGE_MISSING: {
    kind: 'environment',
    example: { image: 'x:1' },
    message: (f) => `There is no image ${f.image}.`,
    hint: () => 'Build it with: mahabharatha build',
  },
});
