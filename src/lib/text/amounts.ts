const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** "512 bytes", "16 MiB", "1.2 GiB". */
export function inBytes(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount >= 1024 && unit < UNITS.length - 1) [amount, unit] = [amount / 1024, unit + 1];
  return `${Number(amount.toFixed(1))} ${UNITS[unit]}`;
}

/** "60 s", "1.5 s", "0.25 s": for limits, and for what is measured against them. */
export function inSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(ms < 1000 ? 3 : 1))} s`;
}

/** "45 s", "2 min 3 s", "5 h 10 min". */
export function inDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** "$5.02"; "unknown" when there is no amount. */
export function inDollars(amount: number | null): string {
  return amount === null ? 'unknown' : `$${amount.toFixed(2)}`;
}

/** "0:45", "12:03", "1:02:03": for columns, because it is short and its parts keep their places. */
export function inClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours === 0 ? `${minutes}:${inTwo(seconds % 60)}` : `${hours}:${inTwo(minutes)}:${inTwo(seconds % 60)}`;
}

const inTwo = (part: number): string => String(part).padStart(2, '0');
