import type { Config } from '../../config/index.ts';
import type { Engine, EngineInfo } from '../../engines/index.ts';
import { imageRequest, tryOverlays } from '../../project/index.ts';
import type { Project } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { checked, fine } from './finding.ts';
import type { Finding } from './finding.ts';

const WHAT = 'overlay worktrees';

interface Asked {
  readonly project: Project;
  readonly engine: Engine;
  readonly info: EngineInfo;
  readonly container: Config['workers']['container'];
}

/** Whether workers start from snapshots. Without them runs are slower, and that is all. */
export function checkOverlays({ container, ...asked }: Asked, context: CliContext): Promise<Finding> {
  const check = async (): Promise<Finding> => {
    const { findRunImage } = await import('../../images/index.ts');
    const { workerId } = await findRunImage(asked.engine, await imageRequest(context));
    if (workerId === null) {
      const remedy = 'Build it with: mahabharatha build';
      return { what: WHAT, state: 'note', found: 'not tried: there is no fresh worker image', remedy };
    }
    const answer = await tryOverlays({ ...asked, workerImage: workerId, runtime: container.runtime ?? null });
    if (answer.able) return fine(WHAT, 'yes: workers start from snapshots');
    const remedy = 'Runs work all the same. An engine on this machine, and not in a virtual one, takes overlays.';
    return { what: WHAT, state: 'note', found: `no, copies are used: ${answer.reason}`, remedy };
  };
  return checked(WHAT, check, 'note');
}
