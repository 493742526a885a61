import path from 'node:path';
import { LABEL } from '../containers/index.ts';
import type { Engine, EngineInfo, Labels } from '../engines/index.ts';
import { RUN_LABEL } from '../launchers/index.ts';
import { randomId, removeIfEmpty } from '../lib/index.ts';
import { tryOverlay } from '../snapshots/index.ts';
import type { OverlayAnswer } from '../snapshots/index.ts';
import { snapshotsOf } from './project.ts';
import type { Project } from './project.ts';
import { findWorkerUsers } from './worker-users.ts';

interface Asked {
  readonly project: Project;
  readonly engine: Engine;
  readonly info: EngineInfo;
  readonly workerImage: string;
  readonly runtime: string | null;
}

/** Labels by which what a killed trial leaves is found, and removed with what its run has left. */
export function trialLabels(root: string, { runId, feature }: { runId: string; feature: string }): Labels {
  return {
    [LABEL.owner]: runId,
    [LABEL.kind]: 'run',
    [RUN_LABEL.run]: runId,
    [RUN_LABEL.feature]: feature,
    [RUN_LABEL.repo]: root,
  };
}

/** Whether workers of a run can start from snapshots, for a person who asks; nothing of the answer is kept. */
export async function tryOverlays({ project, workerImage, ...asked }: Asked): Promise<OverlayAnswer> {
  const top = snapshotsOf(project.paths.placeOf('').top);
  const labels = trialLabels(project.repository.root, { runId: `doctor-${randomId()}`, feature: 'doctor' });
  try {
    const users = await findWorkerUsers();
    return await tryOverlay(
      { ...asked, image: workerImage, users, labels, top, place: top },
      new AbortController().signal,
    );
  } finally {
    for (const folder of [top, path.dirname(top)]) await removeIfEmpty(folder);
  }
}
