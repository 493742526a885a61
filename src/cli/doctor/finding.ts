import { asAppError } from '../../lib/index.ts';

/** One line of `doctor`. */
export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'note' | 'bad';
  readonly found: string;
  /** How to mend it. */
  readonly remedy: string | null;
}

export const fine = (what: string, found: string): Finding => ({ what, state: 'ok', found, remedy: null });

/** What a check that fails has to say is a finding too. */
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
