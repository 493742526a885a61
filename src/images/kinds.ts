import type { ImageKind } from './kind.ts';
import { repositoryKind } from './repository-kind.ts';
import { workerKind } from './worker-kind.ts';

/** All that `build` knows, each after the kind that it is built on. */
export const KINDS: readonly ImageKind[] = [workerKind, repositoryKind];

/** What a run needs: the last one that is asked for is the image of its workers. */
export const RUN_KINDS: readonly ImageKind[] = [workerKind, repositoryKind];
