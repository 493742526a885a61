import type { Command } from '../command.ts';
import { JSON_OPTION, TRUST_OPTION } from '../command.ts';

export const build: Command = {
  name: 'build',
  summary: 'build the image that workers run in, and the one that .mahabharatha/Dockerfile describes',
  options: [
    { flags: '--no-cache', summary: 'build anew, also what has not changed' },
    {
      flags: '--base-image <image>',
      summary: 'an image with Node and npm to build on (default: that of the last build, or an official node image)',
    },
    { flags: '--platform <platform>', summary: "say linux/arm64 (default: the engine's own)" },
    TRUST_OPTION,
    JSON_OPTION,
  ],
  examples: [
    ['mahabharatha build', 'builds only what is missing or stale'],
    ['mahabharatha build --base-image mahabharatha-base:bookworm', 'without a registry: see docker/air-gapped'],
  ],
  run: async (input, context) => {
    const { buildImage } = await import('../images/build-image.ts');
    return buildImage(input, context);
  },
};
