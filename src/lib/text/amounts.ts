const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** "512 bytes", "16 MiB", "1.2 GiB": as exact as people want it. */
export function inBytes(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount >= 1024 && unit < UNITS.length - 1) [amount, unit] = [amount / 1024, unit + 1];
  return `${unit >= 3 ? amount.toFixed(1) : Math.round(amount)} ${UNITS[unit]}`;
}
