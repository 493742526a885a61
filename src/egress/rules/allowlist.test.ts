import { describe, expect, it } from 'vitest';
import { permissionFor } from '../target/index.ts';
import { isAllowed, parseAllowlist } from './allowlist.ts';
import type { Allowlist } from './allowlist.ts';

const rulesOf = (...entries: string[]): Allowlist['rules'] => parseAllowlist(entries).rules;

describe('the allowlist', () => {
  it.each<[string, string, number, boolean]>([
    ['example.org', 'example.org', 443, true],
    ['example.org', 'EXAMPLE.org.', 80, true],
    ['example.org', 'example.org', 8443, false],
    ['example.org', 'www.example.org', 443, false],
    ['example.org', 'notexample.org', 443, false],
    ['example.org', 'example.org.evil.test', 443, false],
    ['example.org:8443', 'example.org', 8443, true],
    ['example.org:8443', 'example.org', 443, false],
    ['*.example.org', 'a.example.org', 443, true],
    ['*.example.org', 'a.b.example.org', 443, true],
    ['*.example.org', 'example.org', 443, false],
    ['*.example.org', 'badexample.org', 443, false],
    ['*.example.org:8443', 'a.example.org', 8443, true],
    ['*.example.org:8443', 'a.example.org', 443, false],
    ['Bücher.example', 'xn--bcher-kva.example', 443, true],
    ['192.168.1.5:8080', '192.168.1.5', 8080, true],
    ['192.168.1.5:8080', '::ffff:192.168.1.5', 8080, true],
    ['192.168.1.5:8080', '0xc0a80105', 8080, true],
    ['192.168.1.5:8080', '192.168.1.5', 80, false],
    ['[fd12::5]:8080', 'fd12:0::5', 8080, true],
    ['[fd12::5]:8080', '[fd12::5]', 8081, false],
    ['anthropic', 'api.anthropic.com', 443, true],
    ['anthropic', 'console.anthropic.com', 443, false],
    ['pypi', 'files.pythonhosted.org', 443, true],
    ['github', 'raw.githubusercontent.com', 443, true],
    ['npm', 'npm', 443, false],
  ])('with %s: %s port %i: %s', (entry, host, port, allowed) => {
    const { rules, problems } = parseAllowlist([entry]);
    expect(problems).toEqual([]);
    expect(isAllowed(rules, host, port)).toBe(allowed);
  });

  it.each([
    ['*', 'network: open'],
    ['https://example.org/', 'only the host'],
    ['example.org/path', 'not a preset (agent, anthropic, github, google, npm, openai, opencode, pypi)'],
    ['10.0.0.0/8', 'ranges'],
    ['fd00::/8', 'ranges'],
    ['192.168.1.5', 'needs its port: "192.168.1.5:8080"'],
    ['[fd12::5]', 'needs its port: "[fd12::5]:8080"'],
    ['fd12::5', 'needs its port: "[fd12::5]:8080"'],
    ['*.192.168.1.5:80', 'no names below'],
    ['example.org:', 'the port must be'],
    ['example.org:http', 'the port must be'],
    ['example.org:99999', 'the port must be'],
    ['*.*.example.org', 'not a preset'],
    ['www.*.org', 'not a preset'],
    ['user@example.org', 'not a preset'],
    ['two words', 'not a preset'],
    ['fe80::1%eth0', 'not a preset'],
    ['', 'empty'],
  ])('says what is wrong with %j', (entry, problem) => {
    const { rules, problems } = parseAllowlist([entry, 'example.org']);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).toContain(`"${entry}"`);
    expect(rules).toHaveLength(1);
  });

  it.each(['localhost:3000', '127.0.0.1:3000', '[::1]:3000', '0.0.0.0:80', 'app.localhost:3000'])(
    'warns that %s is out of reach',
    (entry) => {
      expect(parseAllowlist([entry]).warnings).toEqual([expect.stringMatching(/own loopback.*docker0/)]);
    },
  );

  it.each(['nmp', 'NPM', 'githb', 'registry', 'nas', 'build_2', 'constructor', 'localhost'])(
    'does not guess whether the single word %s is a misspelt preset or a host, and says how to write either',
    (entry) => {
      const { rules, problems, warnings } = parseAllowlist([entry]);
      expect(problems).toEqual([
        `"${entry}": not a preset (agent, anthropic, github, google, npm, openai, opencode, pypi); a host is allowed with its port: "${entry}:443"`,
      ]);
      expect([rules, warnings]).toEqual([[], []]);
    },
  );

  it.each(['npm:443', 'nmp:8443', 'registry:443', 'registry.', 'example.org', '*.corp'])(
    'takes %s for the host that it can only be, without a warning',
    (entry) => {
      expect(parseAllowlist([entry])).toMatchObject({ rules: [{}], problems: [], warnings: [] });
    },
  );

  it('names everything that is wrong at once, an empty entry too', () => {
    const { problems } = parseAllowlist(['*', '', 'nmp', 'example.org', '  ', '10.0.0.1']);
    expect(problems.map((problem) => problem.slice(0, problem.indexOf(':')))).toEqual([
      '"*"',
      '""',
      '"nmp"',
      '""',
      '"10.0.0.1"',
    ]);
  });

  it('knows that the hosts of npm are wanted', () => {
    expect(parseAllowlist(['npm'])).toMatchObject({ npm: true, rules: [], problems: [] });
    expect(parseAllowlist(['anthropic']).npm).toBe(false);
  });

  it('says which entries it has for a host', () => {
    const rules = rulesOf('example.org:8443', 'example.org');
    expect(permissionFor(rules, { host: 'example.org', port: 22 })).toEqual({
      allowed: false,
      trustedPrivate: false,
      rules,
    });
  });
});
