import { asAppError } from '../../lib/index.ts';

/** One line of `doctor`. */
export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'note' | 'bad';
  readonly found: string;
  /** What to do about it. */
  readonly remedy: string | null;
}

export const fine = (what: string, found: string): Finding => ({ what, state: 'ok', found, remedy: null });

/** A check that fails is a finding too. */
export async function checked(
  what: string,
  check: () => Promise<Finding>,
  failed: Finding['state'] = 'bad',
): Promise<Finding> {
  const tried = await attempt(what, check);
  return 'problem' in tried ? { ...tried.problem, state: failed } : tried.value;
}

/** The value, or why there is none. */
export async function attempt<Value>(
  what: string,
  work: () => Promise<Value>,
): Promise<{ value: Value } | { problem: Finding }> {
  try {
    return { value: await work() };
  } catch (error) {
    const { message, hint } = asAppError(error);
    return { problem: { what, state: 'bad', found: message, remedy: hint } };
  }
}
