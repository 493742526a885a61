import { PRUNE_COMMAND } from '../../images/index.ts';
import type { BuiltImage } from '../../images/index.ts';
import { CLEAR_LINE, inBytes, inSeconds, line, printableJson, printableOutput } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { BuildListener } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { colorsFor } from './colors.ts';

type Context = Pick<CliContext, 'out' | 'err' | 'terminal' | 'color'>;

export function buildView(
  context: Context,
  json: boolean,
  screen: { columns?: number } = process.stdout,
): BuildListener {
  if (json) return jsonView(context);
  return context.terminal ? tailView(context, screen) : plainView(context);
}

function jsonView({ out }: Context): BuildListener {
  const say = (value: object): void => out(line`${printableJson(value)}\n`);
  return {
    step: (text) => say({ type: 'build-step', text }),
    line: (text) => say({ type: 'build-line', text }),
    done: ({ title: _title, ...image }) => say({ type: 'image', ...image }),
    olderStay: () => undefined,
    calledOff: (finished) => say({ type: 'build-called-off', built: newOnes(finished) }),
    close: () => undefined,
  };
}

export function plainView({ out, err }: Context): BuildListener {
  return {
    step: (text) => out(line`Building ${text}\n`),
    line: (text) => out(line`  ${printableOutput(text)}\n`),
    done: (image) => out(describe(image)),
    olderStay: () => out(OLDER_STAY),
    calledOff: (finished) => err(describeEnd(finished)),
    close: () => undefined,
  };
}

/** Shows only the last line of a build, in place. An error has the last lines of its own. */
function tailView({ out, err, color }: Context, { columns }: { columns?: number }): BuildListener {
  const { dim } = colorsFor(color);
  // Terminals of some CI say that they are 0 columns wide.
  const width = Math.max(20, (columns || 80) - 3);
  return {
    step: (text) => out(line`${CLEAR_LINE}Building ${text}\n`),
    // Output of a build must not move the cursor.
    line: (text) => out(line`${CLEAR_LINE}  ${dim(printableOutput(text).toString().slice(0, width))}`),
    done: (image) => out(line`${CLEAR_LINE}${describe(image)}`),
    olderStay: () => out(line`${CLEAR_LINE}${OLDER_STAY}`),
    calledOff: (finished) => {
      out(CLEAR_LINE);
      err(describeEnd(finished));
    },
    close: () => out(CLEAR_LINE),
  };
}

function describe({ title, tag, bytes, ms, cached }: BuiltImage): Printable {
  const how = cached ? 'up to date' : `built in ${inSeconds(ms)}`;
  return line`${title}  ${tag}  ${inBytes(bytes)}  ${how}\n`;
}

const OLDER_STAY = line`Older images stay. This removes all of Mahabharatha's that no container uses, the new ones too: ${PRUNE_COMMAND}\n`;

/** The worker image may be finished when the build of the repository image is interrupted. */
function describeEnd(finished: readonly BuiltImage[]): Printable {
  const built = newOnes(finished);
  if (built.length === 0) return line`The build was called off; no image has changed.\n`;
  return line`The build was called off; only ${built.join(', ')} is new, no other image has changed.\n`;
}

const newOnes = (finished: readonly BuiltImage[]): string[] =>
  finished.filter(({ cached }) => !cached).map(({ tag }) => tag);
