/** Of the settings of a run. */
interface Places {
  readonly workers: number;
  readonly mode: string;
}

interface Begun {
  /** In ISO form. */
  readonly startedAt: string;
}

/**
 * How many numbers the workers of a run may have. In a container a worker keeps its number until nothing of it is left. So
 * each place of a run has two numbers: the next worker of the place may begin while the one before it is removed.
 */
export const numberCount = ({ workers, mode }: Places): number => (mode === 'container' ? workers * 2 : workers);

/** The place of a worker. One works at each; a run that is resumed with fewer places keeps the workers that it has. */
export const placeOf = (settings: Places, number: number): number =>
  number < numberCount(settings) ? number % settings.workers : number;

/** The last worker of each place, by its place: the other one has done its work, and is being removed, or is gone. */
export function lastOfPlaces(settings: Places, workers: Readonly<Record<string, Begun>>): ReadonlyMap<number, number> {
  const last = new Map<number, number>();
  for (const [key, { startedAt }] of Object.entries(workers)) {
    const place = placeOf(settings, Number(key));
    const other = workers[last.get(place) ?? -1];
    if (other === undefined || other.startedAt < startedAt) last.set(place, Number(key));
  }
  return last;
}
