import type { ImageKind } from './kind.ts';
import { bunKind, sandboxKind, workerKind } from './package-kinds.ts';
import { repositoryKind } from './repository-kind.ts';

/** For a run: its workers get the last one that is requested. Each kind stands after the one that it is built on. */
export const RUN_KINDS: readonly ImageKind[] = [workerKind, repositoryKind];

/** For sandboxes. */
export const SANDBOX_KINDS: readonly ImageKind[] = [sandboxKind];

/** For the code of AI clients. */
export const BUN_KINDS: readonly ImageKind[] = [bunKind];
