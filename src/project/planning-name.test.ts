import { describe, expect, it } from 'vitest';
import { isPlanningName, planningName } from './planning-name.ts';
import { checkFeatureName, isFeatureName } from './feature-name.ts';

describe('the name of the run of an agent that plans', () => {
  it.each([
    'login',
    'a.b',
    'x'.repeat(55),
    'x'.repeat(64),
    `${'x'.repeat(37)}.${'y'.repeat(26)}`,
    `${'x'.repeat(49)}.y`,
  ])('of %s is a name that no feature can have', (feature) => {
    const name = planningName(feature);
    expect(checkFeatureName(feature)).toBe(feature);
    expect(isFeatureName(name)).toBe(true);
    expect(isPlanningName(name)).toBe(true);
    expect(() => checkFeatureName(name)).toThrow(expect.objectContaining({ code: 'FEATURE_NAME_INVALID' }));
  });

  it('is another one for each feature', () => {
    const long = 'x'.repeat(63);
    expect(planningName(`${long}a`)).not.toBe(planningName(`${long}b`));
  });

  it('is refused in capital letters, too', () => {
    expect(() => checkFeatureName('login.Planning')).toThrow('cannot be a feature name');
  });
});
