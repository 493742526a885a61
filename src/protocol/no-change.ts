/** Why an attempt does not count that has changed nothing, although its task names files to write. */
export function nothingChanged(declared: readonly string[]): string {
  return `nothing was changed; expected changes to ${declared.join(', ')}`;
}

/** For people, not for the agent: how work counts that is there before the task begins. */
export const IF_SATISFIED =
  'if the work may be there already, "satisfied": true in the task lets its verification decide';

/** How a task that may be satisfied is accepted without a change. */
export const ALREADY_DONE = 'nothing was changed, as the work was there already';
