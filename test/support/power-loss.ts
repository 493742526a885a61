import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { waitFor } from './project.ts';

const SIZE_MB = 96;

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: from now on nothing reaches the disk, not even the journal. */
const CUT = 'open(F, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl(F, 0x8004587d, $how) or die $!;';

const command = (file: string, ...args: string[]): void => void execFileSync(file, args, { stdio: 'pipe' });

/** A small disk of its own, whose power can be cut: what was not written to it for sure is gone then. */
export interface Disk {
  readonly folder: string;
  cutPower(): void;
  /** The disk as it is found when the power is back. No process may use it any more. */
  restorePower(): Promise<void>;
  remove(): void;
}

export function makeDisk(): Disk {
  const top = mkdtempSync(path.join(tmpdir(), 'mahabharatha-power-'));
  const [image, folder] = [path.join(top, 'image'), path.join(top, 'disk')];
  mkdirSync(folder);
  closeSync(openSync(image, 'w'));
  truncateSync(image, SIZE_MB * 1024 * 1024);
  command('mkfs.ext4', '-q', '-F', image);
  // Five minutes between two writes of its journal: nothing gets there by chance.
  const mount = (): void => command('mount', '-o', 'loop,commit=300', image, folder);
  try {
    mount();
  } catch (error) {
    rmSync(top, { recursive: true, force: true });
    throw error;
  }
  return {
    folder,
    cutPower: () => command('perl', '-e', CUT, folder),
    restorePower: async () => {
      // Processes that were killed, and namespaces that were copied, may hold the old one for a moment longer.
      await waitFor('the disk is back', () =>
        succeeds(() => {
          command('umount', folder);
          mount();
          writeFileSync(path.join(folder, 'back'), '');
        }),
      );
    },
    remove: () => {
      command('umount', '-l', folder);
      rmSync(top, { recursive: true, force: true });
    },
  };
}

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** Why there can be no such disk here; undefined when there can. */
export function noDisk(): string | undefined {
  try {
    const disk = makeDisk();
    disk.cutPower();
    disk.remove();
    return undefined;
  } catch (error) {
    return `no disk can be mounted here whose power could be cut: ${String(error).split('\n')[0]}`;
  }
}
