import { describe, expect, it } from 'vitest';
import { defaultRegistry, registriesIn } from './npm-hosts.ts';

const LISTING = [
  '; "user" config from /home/me/.npmrc',
  '@mine:registry = "https://npm.mine.example/repo/"',
  'registry = "https://me:secret@packages.example:8443/npm/"',
  '; registry = "https://overridden.example/" ; overridden by user',
  'other-registry = "https://no.example/"',
].join('\n');

describe("the user's npm registries", () => {
  it('are all he has set, scoped ones too, without what is overridden', () => {
    expect(registriesIn(LISTING).map(String)).toEqual(['https://npm.mine.example/', 'https://packages.example:8443/']);
  });

  it('have a default one, which workers are told of without the password in it', () => {
    expect(defaultRegistry(LISTING)).toBe('https://packages.example:8443/npm/');
    expect(defaultRegistry('registry = "nonsense"')).toBeUndefined();
    expect(defaultRegistry('')).toBeUndefined();
  });
});
