export type { Standing } from './approval.ts';
export { approvalOf, approved, asDraft, haveSameWords, withBodyOf } from './approval.ts';
export type { Approval } from './approval.ts';
export { coverageOf } from './coverage.ts';
export type { Coverage } from './coverage.ts';
export { ANSWERS, designPrompt, requirementsPrompt } from './prompts.ts';
export { parseRequirements } from './requirements.ts';
export { requirementsTemplate } from './template.ts';
export type { Words } from './template.ts';
