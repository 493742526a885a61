export { snapshotMaker } from './make.ts';
export { tryOverlay, tryOverlayOnce } from './overlay-trial.ts';
export type { OverlayAnswer } from './overlay-trial.ts';
export { whichAreFree } from './prune.ts';
export { createSnapshots, NO_SNAPSHOTS } from './snapshots.ts';
export type { Difference, SnapshotNews, Snapshots, SnapshotsOptions } from './snapshots.ts';
export { openSnapshotStore } from './store.ts';
export type { KeptSnapshot, Snapshot, SnapshotStore } from './store.ts';
