// Loaded into the orchestrator before anything else (NODE_OPTIONS=--import): makes the system fail when a test says so.
import { existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const order = process.env.FAULTS_ORDER ?? '';

function takeDescriptors() {
  try {
    for (;;) openSync('/dev/null');
  } catch {
    // None is left.
  }
}

if (process.argv.includes('kurukshetra')) {
  const poll = setInterval(() => {
    if (!existsSync(order)) return;
    const text = readFileSync(order, 'utf8');
    if (text !== 'throw' && text !== 'reject' && text !== 'take all descriptors') return;
    rmSync(order);
    if (text === 'take all descriptors') takeDescriptors();
    else if (text === 'reject') void Promise.reject(new Error('planted by the test'));
    else throw new Error('planted by the test');
  }, 5);
  poll.unref();

  /** `EIO <part of a path>`: opening a file of that name for writing fails. */
  const { open } = promises;
  promises.open = async (file, flags, mode) => {
    const [code, part] = existsSync(order) ? readFileSync(order, 'utf8').split(' ') : [];
    if (part !== undefined && flags !== 'r' && String(file).includes(part)) {
      throw Object.assign(new Error(`${code}: planted, open '${String(file)}'`), {
        code,
        syscall: 'open',
        path: String(file),
      });
    }
    return open(file, flags, mode);
  };
  syncBuiltinESMExports();
}
