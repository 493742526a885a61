export { snapshotMaker } from './make.ts';
export { tryOverlay, tryOverlayOnce } from './overlay-trial.ts';
export type { OverlayAnswer } from './overlay-trial.ts';
export { createSnapshots, NO_SNAPSHOTS } from './snapshots.ts';
export type { SnapshotNews, Snapshots } from './snapshots.ts';
export { openSnapshotStore } from './store.ts';
export type { Snapshot } from './store.ts';
