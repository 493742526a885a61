import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Package } from '../code/index.ts';
import { hooksOf, reasonOfError, sessionId } from './calls.ts';
import type { CodeRunner } from './code-runner.ts';

const MOST_AT_ONCE = 50;

export const packageList = z.array(z.object({ name: z.string(), version: z.string() }));

const installInput = z.object({
  packages: z
    .array(z.string().min(1).max(300))
    .min(1)
    .max(MOST_AT_ONCE)
    .describe('Names of npm, with or without a version: "zod", "@hono/zod-validator", "zod@3".'),
  session_id: sessionId,
});

const installOutput = z.object({
  installed: packageList,
  error: z.string().nullable().describe('Why nothing was installed.'),
});

const listOutput = z.object({
  session: packageList.describe('What code of this session can import.'),
  cached: packageList.describe('What is there without a download.'),
});

export function addPackageTools(server: McpServer, packages: NonNullable<CodeRunner['packages']>): void {
  server.registerTool(
    'install_packages',
    {
      title: 'Install packages',
      description:
        'Installs packages of npm for a session, all together. Not needed before run_code, which installs what code imports; use it for a version.',
      inputSchema: installInput,
      outputSchema: installOutput,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    async ({ packages: requests, session_id: session }, { mcpReq }) =>
      answer(() => packages.install(session, requests, hooksOf(mcpReq))),
  );
  server.registerTool(
    'list_packages',
    {
      title: 'List packages',
      description: 'Lists the packages of a session, and those that are cached on this machine.',
      inputSchema: z.object({ session_id: sessionId }),
      outputSchema: listOutput,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async ({ session_id: session }, { mcpReq }) => {
      const { session: own, cached } = await packages.list(session, hooksOf(mcpReq));
      const text = `In the session: ${inWords(own)}. Cached: ${inWords(cached)}.`;
      return { content: [{ type: 'text', text }], structuredContent: { session: [...own], cached: [...cached] } };
    },
  );
}

async function answer(install: () => Promise<readonly Package[]>): Promise<CallToolResult> {
  try {
    const installed = [...(await install())];
    return {
      content: [{ type: 'text', text: `Installed: ${inWords(installed)}.` }],
      structuredContent: { installed, error: null },
    };
  } catch (problem) {
    const error = reasonOfError(problem);
    return { content: [{ type: 'text', text: error }], structuredContent: { installed: [], error }, isError: true };
  }
}

const inWords = (packages: readonly Package[]): string =>
  packages.length === 0 ? 'none' : packages.map(({ name, version }) => `${name}@${version}`).join(', ');
