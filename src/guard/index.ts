export { createBudget } from './budget.ts';
export { createBodyBudget } from './body-budget.ts';
export type { BodyBudget } from './body-budget.ts';
export {
  accountOf,
  checkRequest,
  checkSender,
  checkUpgrade,
  guardingOf,
  isOfThisMachine,
  protocolsOf,
} from './check-request.ts';
export type { Guarding } from './check-request.ts';
export { drain } from './drain.ts';
export { listenError } from './listen-error.ts';
export { readTokens } from './tokens.ts';
