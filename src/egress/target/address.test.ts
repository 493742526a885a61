import { describe, expect, it } from 'vitest';
import { kindOf, readAddress } from './address.ts';

describe('an address', () => {
  it.each([
    ['192.168.1.5', '192.168.1.5'],
    ['::1', '::1'],
    ['FD00:0:0:0::0005', 'fd00::5'],
    ['::ffff:192.168.1.5', '192.168.1.5'],
    ['::FFFF:c0a8:0105', '192.168.1.5'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
  ])('%s is written %s', (text, written) => {
    expect(readAddress(text)).toBe(written);
  });

  it.each(['', '1.2.3', '1.2.3.4.5', '256.1.1.1', '010.0.0.1', '0x7f.0.0.1', 'fe80::1%eth0', '[::1]', ':::', 'a.b'])(
    '%j is none',
    (text) => {
      expect(readAddress(text)).toBeUndefined();
    },
  );
});

describe('the kind of an address', () => {
  it.each<[string, ReturnType<typeof kindOf>]>([
    ['8.8.8.8', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.128.0.0', 'public'],
    ['223.255.255.255', 'public'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.255.255.255', 'private'],
    ['100.64.0.1', 'private'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.1.1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['192.0.0.192', 'metadata'],
    ['192.0.0.1', 'reserved'],
    ['192.0.2.2', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.51.100.7', 'reserved'],
    ['203.0.113.80', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
  ])('%s is %s', (address, kind) => {
    expect(kindOf(address)).toBe(kind);
  });

  it.each<[string, ReturnType<typeof kindOf>]>([
    ['2606:4700::1111', 'public'],
    ['2a00:1450:4001::8', 'public'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'loopback'],
    ['::808:808', 'reserved'],
    ['::ffff:0:7f00:1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:0:808:808', 'reserved'],
    ['fd00:ec2::254', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['fd12::1', 'private'],
    ['fc00::1', 'private'],
    ['fec0::1', 'private'],
    ['fe80::1', 'link-local'],
    ['ff02::1', 'multicast'],
    ['64:ff9b::808:808', 'public'],
    ['64:ff9b::a00:1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'metadata'],
    ['64:ff9b:1::808:808', 'private'],
    ['2002:7f00:1::', 'loopback'],
    ['2002:a9fe:a9fe::1', 'metadata'],
    ['2002:808:808::', 'reserved'],
    ['2001::1', 'reserved'],
    ['2001:1ff::1', 'reserved'],
    ['2001:200::1', 'public'],
    ['2001:db8::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['100::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['4000::1', 'reserved'],
  ])('%s is %s', (address, kind) => {
    expect(kindOf(address)).toBe(kind);
  });
});
