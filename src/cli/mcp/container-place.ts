import type { McpSettings } from '../../config/index.ts';
import { findEngine } from '../../engines/index.ts';
import { line, printableOutput } from '../../lib/index.ts';
import { openContainers } from '../../mcp/index.ts';
import type { Place } from '../../mcp/index.ts';
import type { BuildListener } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { readyImage } from '../images/ready-image.ts';

/** Containers of the engine, whose images are built when they are missing. */
export function containerPlace(settings: McpSettings, context: CliContext): Place {
  const { env, err, version, interrupted } = context;
  const onNote = (note: string): void => err(line`${note}\n`);
  return {
    mode: 'container',
    prepare: async (tell, signal) => {
      const say = (text: string): void => {
        tell(text);
        err(line`${printableOutput(text)}\n`);
      };
      const host = { env, version, interrupted: AbortSignal.any([signal, interrupted]) };
      const view = (): BuildListener => progressView(say);
      const engine = await findEngine(env);
      const runtimeImage = await readyImage(engine, { use: 'sandbox', view }, host);
      const base = env['BUN_RUNNER_BASE'] || settings.base_image;
      const { tag } = await readyImage(engine, { use: 'bun', base, view }, host);
      const asked = { engine, runtimeImage, image: tag, settings, env, onNote };
      return { from: runtimeImage.id, open: (closing) => openContainers(asked, closing) };
    },
  };
}

function progressView(say: (text: string) => void): BuildListener {
  return {
    step: (text) => say(`Building ${text}`),
    line: say,
    done: ({ title, tag }) => say(`The ${title} ${tag} is there.`),
    olderStay: () => undefined,
    calledOff: () => undefined,
    close: () => undefined,
  };
}
