import { describe, expect, it } from 'vitest';
import { inRecords, madeHello, realHello, serverName } from '../../../test/support/client-hello.ts';
import { readClientHello } from './client-hello.ts';

const NAME = 'registry.example.org';

describe('the greeting of a TLS client', () => {
  it('says which server it asks for, or that it names none', async () => {
    expect(readClientHello(await realHello(NAME))).toEqual({ name: NAME, hidesName: false });
    expect(readClientHello(await realHello(undefined))).toEqual({ name: undefined, hidesName: false });
    expect(readClientHello(madeHello([serverName(NAME)]))).toEqual({ name: NAME, hidesName: false });
  });

  it.each([7, 50, 200])('is read also in records of %i bytes, and what follows it does not matter', async (size) => {
    const hello = inRecords(await realHello(NAME), size);
    expect(readClientHello(Buffer.concat([hello, Buffer.from('whatever')]))).toMatchObject({ name: NAME });
  });

  it('is incomplete until its last byte', async () => {
    for (const hello of [await realHello(NAME), inRecords(await realHello(NAME), 50)])
      for (let end = 0; end < hello.length; end += 1) expect(readClientHello(hello.subarray(0, end))).toBe('more');
  });

  it('may hide another name', () => {
    const hidden = [0xfe_0d, Buffer.from([0])] as const;
    expect(readClientHello(madeHello([serverName(NAME), hidden]))).toEqual({ name: NAME, hidesName: true });
  });

  const good = madeHello([serverName(NAME)]);
  const changed = (at: number, value: number): Buffer =>
    Buffer.from(good.map((byte, index) => (index === at ? value : byte)));

  it.each<[string, Buffer]>([
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
    ['another kind of record', changed(0, 23)],
    ['a version of another protocol', changed(1, 2)],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0, 1])],
    ['another message', changed(5, 2)],
    ['a message that is far too long', changed(6, 1)],
    ['a record that goes on after the message', changed(8, good.readUInt8(8) - 1)],
    ['extensions that are longer than the message', changed(good.length - NAME.length - 5 - 5, 200)],
    ['two names', madeHello([serverName(NAME, 'other.example.org')])],
    ['two lists of names', madeHello([serverName(NAME), serverName('other.example.org')])],
    ['cut into far too many records', inRecords(madeHello([serverName('n'.repeat(300))]), 1)],
    ['an empty name', madeHello([serverName('')])],
    ['no name in the list of names', madeHello([serverName()])],
  ])('is none: %s', (_, bytes) => {
    expect(readClientHello(bytes)).toBe('none');
  });

  it('is none when the second of its records is something else', () => {
    const [first, rest] = [inRecords(good, 20).subarray(0, 25), inRecords(good, 20).subarray(25)];
    expect(readClientHello(Buffer.concat([first, Buffer.from([23]), rest.subarray(1)]))).toBe('none');
  });

  it('is never read wrong, whatever the bytes are', () => {
    for (let at = 0; at < good.length; at += 1)
      for (const value of [0, 1, 127, 255]) expect(() => readClientHello(changed(at, value))).not.toThrow();
  });
});
