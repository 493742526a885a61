import type { ImageKind } from './kind.ts';
import { repositoryKind } from './repository-kind.ts';
import { workerKind } from './worker-kind.ts';

/** For `build`: each kind stands after the one that it is built on. */
export const KINDS: readonly ImageKind[] = [workerKind, repositoryKind];

/** For a run: its workers get the last one of these that is requested. */
export const RUN_KINDS: readonly ImageKind[] = [workerKind, repositoryKind];
