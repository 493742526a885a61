import type { CommandDefinition } from '../command.ts';
import { JSON_OPTION, TRUST_OPTION } from '../command.ts';

export const build = {
  name: 'build',
  argument: [
    '[image]',
    'worker (the default): the image that workers run in, and the one that .mahabharatha/Dockerfile describes; sandbox: what serve needs; bun: what mcp needs',
  ],
  summary: 'build the images that workers and sandboxes need',
  options: {
    cache: ['--no-cache', 'build anew, also what has not changed'],
    baseImage: [
      '--base-image <image>',
      'an image with Node and npm to build on (default: that of the last build, or an official node image)',
    ],
    platform: ['--platform <platform>', "say linux/arm64 (default: the engine's own)"],
    trustConfig: TRUST_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['mahabharatha build', 'builds only what is missing or stale'],
    ['mahabharatha build sandbox', 'before the first serve, which otherwise does it itself'],
    ['mahabharatha build bun', 'before the first mcp with containers; BUN_RUNNER_BASE names a base, too'],
    ['mahabharatha build --base-image mahabharatha-base:bookworm', 'without a registry: see docker/air-gapped'],
  ],
} as const satisfies CommandDefinition;
