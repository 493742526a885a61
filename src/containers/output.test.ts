import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { Engine } from '../engines/index.ts';
import { keepOutput, resumeOutput } from './output.ts';

const SECRET = 'a-secret-"with"-ü-in-it';

function streams(): { stdin: PassThrough; stdout: PassThrough; stderr: PassThrough; close: () => void } {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  return { stdin, stdout, stderr, close: () => undefined };
}

describe('the output of a container', () => {
  it('is kept line by line from both streams, without secrets, in pieces of any size', async () => {
    const log = path.join(tempFolder(), 'log');
    const attachment = streams();
    const output = keepOutput(attachment, { log, secrets: [SECRET] });
    for (const byte of Buffer.from(`it is ${SECRET}\nand ${JSON.stringify(SECRET)}\n`))
      attachment.stdout.write(Buffer.of(byte));
    attachment.stdout.end('no line end');
    attachment.stderr.end(`${SECRET}\n\n`);
    await output.settled();
    const lines = readFileSync(log, 'utf8').split('\n');
    expect(lines.toSorted()).toEqual(['', '', '[redacted]', 'and "[redacted]"', 'it is [redacted]', 'no line end']);
  });

  it('may have lines of any length and number', async () => {
    const log = path.join(tempFolder(), 'log');
    const attachment = streams();
    const output = keepOutput(attachment, { log });
    attachment.stdout.write('x'.repeat(3 * 1024 * 1024));
    attachment.stdout.end('\nthe next\n');
    attachment.stderr.end();
    await output.settled();
    const lines = readFileSync(log, 'utf8').split('\n');
    expect(lines.slice(-2)).toEqual(['the next', '']);
    expect(lines.join('')).toHaveLength(3 * 1024 * 1024 + 'the next'.length);
  });

  it('delays the end of a container only up to a limit', async () => {
    const log = path.join(tempFolder(), 'log');
    const attachment = streams();
    const output = keepOutput(attachment, { log });
    attachment.stdout.write('all that came\n');
    await output.settled();
    expect(readFileSync(log, 'utf8')).toBe('all that came\n');
  });
});

/** What it has printed at the first look, and what comes then. */
function engineWith(before: string, after: string): Engine {
  const logs: Engine['logs'] = async (_, { follow }, { stdout }) => {
    stdout(Buffer.from(before));
    if (follow) stdout(Buffer.from(after));
  };
  return { logs } as unknown as Engine;
}

describe('the output of a container that another process has started', () => {
  it.each([
    { what: 'what the log has missed, then what comes', kept: 'one\n', before: 'one\ntwo\n', after: 'three\n' },
    { what: 'all of it when there is no log', kept: '', before: 'one\ntwo\n', after: 'three\n' },
    {
      what: 'lines that are alike',
      kept: 'one\ntwo\n',
      before: 'one\ntwo\ntwo\n',
      after: 'two\n',
      all: 'one\ntwo\ntwo\ntwo\n',
    },
    {
      what: 'a line that was being printed just then, as a whole',
      kept: 'one\n',
      before: 'one\ntw',
      after: 'o\nthree\n',
    },
    { what: 'a last line without end', kept: 'one\n', before: 'one\ntwo\nthree', after: '' },
    {
      what: 'secrets as little as ever',
      kept: 'one\n',
      before: `one\n${SECRET}\n`,
      after: `${SECRET}\n`,
      all: 'one\n[redacted]\n[redacted]\n',
    },
  ])('is completed: $what', async ({ kept, before, after, all = 'one\ntwo\nthree\n' }) => {
    const log = path.join(tempFolder(), 'log');
    writeFileSync(log, kept);
    const output = resumeOutput(engineWith(before, after), 'id', { log, secrets: [SECRET] });
    await output.settled();
    expect(readFileSync(log, 'utf8')).toBe(all);
  });

  it('is completed also when the engine drops the beginning of its log meanwhile', async () => {
    const log = path.join(tempFolder(), 'log');
    let printed = 'one\ntwo\nthree\n';
    const logs: Engine['logs'] = async (_, { follow }, { stdout }) => {
      stdout(Buffer.from(printed));
      if (!follow) printed = 'three\nfour\nfive\n';
    };
    const output = resumeOutput({ logs } as unknown as Engine, 'id', { log });
    await output.ended;
    await output.settled();
    expect(readFileSync(log, 'utf8')).toBe('one\ntwo\nthree\nfour\nfive\n');
  });
});
