export { openContainers } from './open-containers.ts';
export type { Closing, Place } from './late-runner.ts';
export { openProcesses } from './open-processes.ts';
export { serveOnStdio } from './serve-stdio.ts';
export { serveOverHttp } from './serve-http.ts';
