export { workerEnvironment } from './git-command.ts';
export type { MergeRequest, MergeResult } from './merge.ts';
export { openRepository } from './repository.ts';
export type { Repository } from './repository.ts';
export { openWorkspace } from './workspace.ts';
export type { Workspace } from './workspace.ts';
