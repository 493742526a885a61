export { agentNameOf, agentTasks, isForAgent, taskOf, tasksAt } from './find.ts';
export { adviceOn } from './advice.ts';
export type { Advice } from './advice.ts';
export { formatAdvice, formatMermaid } from './format-advice.ts';
export { formatPlan } from './format-plan.ts';
export type { Task, TaskGraph } from './graph.ts';
export { dependentsOf, longestFirst } from './order.ts';
export { isInOwnFolder, isWrittenByRuns, OWN_FOLDER } from './own-folder.ts';
export { sharesFiles } from './shares-files.ts';
export { mendGraph } from './mend-graph.ts';
export type { Mend } from './mend-graph.ts';
export { ownedFiles } from './owned-files.ts';
export { foreignPaths, steeringPaths } from './ownership.ts';
export { parseGraph } from './parse-graph.ts';
export type { Ownership } from './shared-files.ts';
/** @public used by scripts/generate.js */
export { taskGraphJsonSchema } from './schema.ts';
