// Loaded before anything else (NODE_OPTIONS=--import): the wall clock of these processes is as far off as a file says.
// The monotonic clock and timers go on, as they do when a machine's clock is set.
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_OFFSET ?? '';
const RealDate = Date;

function offsetMs() {
  try {
    return Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    return 0;
  }
}

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [RealDate.now() + offsetMs()] : parts));
  }

  static now() {
    return RealDate.now() + offsetMs();
  }
};
