import { execFileSync } from 'node:child_process';

interface AddressRange {
  readonly Subnet: string;
  readonly Gateway?: string;
}

/**
 * An address of this machine that containers on the engine's bridge reach, and no other machine. An engine names no
 * gateway of its bridge before its second start; it is the first address of the subnet then.
 */
export function bridgeAddress(): string {
  const format = '{{json .IPAM.Config}}';
  const text = execFileSync('docker', ['network', 'inspect', 'bridge', '--format', format], { encoding: 'utf8' });
  const ranges = (JSON.parse(text) as AddressRange[]).filter(({ Subnet }) => /^[\d.]+\/\d+$/.test(Subnet));
  const [range] = ranges;
  if (range === undefined) throw new Error(`the engine's bridge has no IPv4 subnet: ${text}`);
  return range.Gateway ?? range.Subnet.replace(/\d+\/\d+$/, '1');
}
