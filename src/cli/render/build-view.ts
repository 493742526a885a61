import type { BuildProgress, BuiltImage, Removed } from '../../images/index.ts';
import {
  CLEAR_LINE,
  counted,
  inBytes,
  inSeconds,
  line,
  listed,
  printable,
  printableJson,
  printableLines,
  printableOutput,
} from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { CliContext } from '../command.ts';
import { colorsFor } from './colors.ts';
import { columnsOf } from './columns.ts';

/** How a build of images is shown. */
export interface BuildView extends BuildProgress {
  removed(images: readonly Removed[]): void;
  /** With what was finished before. */
  calledOff(finished: readonly BuiltImage[]): void;
  /** After the build, whose images are all there. */
  removalCalledOff(): void;
  close(): void;
}

type Context = Pick<CliContext, 'out' | 'err' | 'terminal' | 'color'>;

export function buildView(context: Context, json: boolean): BuildView {
  if (json) return jsonView(context);
  return context.terminal ? tailView(context) : plainView(context);
}

function jsonView({ out }: Context): BuildView {
  const say = (value: object): void => out(line`${printableJson(value)}\n`);
  return {
    step: (text) => say({ type: 'build-step', text }),
    line: (text) => say({ type: 'build-line', text }),
    done: (image) => say({ type: 'image', ...image }),
    removed: (images) => {
      const gone = wholeOnes(images).map(({ kind, name, id, bytes }) => ({ kind, name, id, bytes }));
      const left = namesOnly(images).map(({ kind, name, id }) => ({ kind, name, id }));
      if (gone.length > 0) say({ type: 'images-removed', images: gone });
      if (left.length > 0) say({ type: 'image-names-removed', images: left });
    },
    calledOff: (finished) => say({ type: 'build-called-off', built: newOnes(finished) }),
    removalCalledOff: () => say({ type: 'removal-called-off' }),
    close: () => undefined,
  };
}

export function plainView({ out, err }: Context): BuildView {
  return {
    step: (text) => out(line`Building ${text}\n`),
    line: (text) => out(line`  ${printableOutput(text)}\n`),
    done: (image) => out(describe(image)),
    removed: (images) => out(describeRemoved(images)),
    calledOff: (finished) => err(describeEnd(finished)),
    removalCalledOff: () => err(REMOVAL_CALLED_OFF),
    close: () => undefined,
  };
}

/** One line that always shows the last one printed; what failed is in the error, with its last lines. */
function tailView({ out, err, color }: Context): BuildView {
  const { dim } = colorsFor(color);
  const width = Math.max(20, columnsOf(process.stdout) - 3);
  return {
    step: (text) => out(line`${CLEAR_LINE}Building ${text}\n`),
    // A build prints what it wants; only we move the cursor.
    line: (text) => out(line`${CLEAR_LINE}  ${dim(printableOutput(text).toString().slice(0, width))}`),
    done: (image) => out(line`${CLEAR_LINE}${describe(image)}`),
    removed: (images) => out(line`${CLEAR_LINE}${describeRemoved(images)}`),
    calledOff: (finished) => {
      out(CLEAR_LINE);
      err(describeEnd(finished));
    },
    removalCalledOff: () => {
      out(CLEAR_LINE);
      err(REMOVAL_CALLED_OFF);
    },
    close: () => out(CLEAR_LINE),
  };
}

function describe({ kind, tag, bytes, ms, cached }: BuiltImage): Printable {
  const what = kind === 'worker' ? 'worker image' : "repository's image";
  const how = cached ? 'up to date' : `built in ${inSeconds(ms)}`;
  return line`${what}  ${tag}  ${inBytes(bytes)}  ${how}\n`;
}

const NAMED = 3;

const wholeOnes = (images: readonly Removed[]): Removed[] => images.filter(({ what }) => what === 'image');
const namesOnly = (images: readonly Removed[]): Removed[] => images.filter(({ what }) => what === 'name');

function describeRemoved(images: readonly Removed[]): Printable {
  const [gone, left] = [wholeOnes(images), namesOnly(images)];
  // Nobody but the engine knows how much of an image others share.
  const size = `${inBytes(gone.reduce((sum, { bytes }) => sum + bytes, 0))} with what others share`;
  const removed = `removed  ${counted(gone.length, 'superseded image')}  ${size}  ${namesOf(gone)}`;
  const unnamed = `unnamed  ${counted(left.length, 'superseded image')}  still there for another name or image  ${namesOf(left)}`;
  const lines = [...(gone.length > 0 ? [removed] : []), ...(left.length > 0 ? [unnamed] : [])];
  return printableLines(lines.map(printable));
}

/** An id says enough by its beginning. */
function namesOf(images: readonly Removed[]): string {
  const names = images.map(({ name }) => (name.startsWith('sha256:') ? name.slice(7, 19) : name));
  return listed(names, NAMED);
}

const REMOVAL_CALLED_OFF = line`The images are built; removing what they supersede was called off.\n`;

/** The worker image may be finished when the repository's is called off. */
function describeEnd(finished: readonly BuiltImage[]): Printable {
  const built = newOnes(finished);
  if (built.length === 0) return line`The build was called off; no image has changed.\n`;
  return line`The build was called off; only ${built.join(', ')} is new, no other image has changed.\n`;
}

const newOnes = (finished: readonly BuiltImage[]): string[] =>
  finished.filter(({ cached }) => !cached).map(({ tag }) => tag);
