import path from 'node:path';
import { heldFolders } from '../lib/index.ts';
import type { Project } from './project.ts';

/** What the containers of shells write: in folders beside those of runs. */
export const shellFolders = ({ paths }: Project, feature: string): ReturnType<typeof heldFolders> =>
  heldFolders(path.join(paths.placeOf(feature).top, 'shells'));
