import type { McpSettings } from '../config/index.ts';
import type { Environment } from '../lib/index.ts';
import { openPreload } from '../preload/index.ts';
import { programFile } from '../project/index.ts';
import type { CodeRunner } from './code-runner.ts';

/** Code runs in processes of this machine, each with its doors closed. `closing` gets the step that ends them. */
export async function openProcesses(
  { memory: memoryBytes, output: outputBytes }: McpSettings,
  env: Environment,
  closing: (() => Promise<unknown>)[],
): Promise<CodeRunner> {
  const preload = await openPreload({ program: programFile('preload'), memoryBytes, outputBytes, env });
  closing.push(preload.closeAll);
  const { run, reset } = preload;
  return { mode: 'preload', run, reset, packages: null };
}
