import { expect, it } from 'vitest';
import { withEnvironment } from './mcp-environment.ts';
import { configSchema } from './schema.ts';

const { mcp } = configSchema.parse({ mcp: { cpus: 1, timeout: '5s' } });

it('the environment goes before the configuration, in the same words', () => {
  const env = { MAHABHARATHA_MCP_TIMEOUT: '90', MAHABHARATHA_MCP_MEMORY: '1g', MAHABHARATHA_MCP_SESSIONS: '3' };
  expect(withEnvironment(mcp, env)).toEqual({ ...mcp, timeout: 90_000, memory: 1024 ** 3, sessions: 3 });
  expect(withEnvironment(mcp, { MAHABHARATHA_MCP_IDLE: '2h', MAHABHARATHA_MCP_CPUS: '' })).toEqual({
    ...mcp,
    idle: 7_200_000,
  });
});

it('what is wrong in it is refused with the names of all variables', () => {
  const env = { MAHABHARATHA_MCP_TIMEOUT: '25h', MAHABHARATHA_MCP_MEMORY: '512', MAHABHARATHA_MCP_PROCESSES: 'many' };
  expect(() => withEnvironment(mcp, env)).toThrow(
    expect.objectContaining({
      facts: {
        file: 'The environment',
        problems: [
          'MAHABHARATHA_MCP_MEMORY: not a size: use "512m" or "4g"',
          'MAHABHARATHA_MCP_PROCESSES: expected a number, got the text "many"',
          'MAHABHARATHA_MCP_TIMEOUT: too long: at most 24h',
        ],
      },
    }),
  );
});
