export { openContainers } from './open-containers.ts';
export { serveOnStdio } from './serve-stdio.ts';
