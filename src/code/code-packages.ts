import { codeErrors } from './errors.ts';
import { installPackages, removeLeftInstallers } from './install-packages.ts';
import type { InstallSettings } from './install-packages.ts';
import type { Wanted } from './package-names.ts';
import { packageStore } from './package-store.ts';
import type { InstallPlace, PackageSet, StoreSettings } from './package-store.ts';

export interface CallHooks {
  /** Aborted when the client calls it off. */
  readonly signal: AbortSignal;
  /** What is done before the code runs, for people. */
  readonly onProgress: (text: string) => void;
}

export interface Package {
  readonly name: string;
  readonly version: string;
}

export type CodePackages = Awaited<ReturnType<typeof openPackages>>;

/** The packages of all sessions; `installing` is null where the engine cannot install any. Throws PACKAGES_FOLDER. */
export async function openPackages(
  settings: StoreSettings,
  installing: Omit<InstallSettings, 'store' | 'scripts'> | null,
) {
  const store = packageStore(settings);
  await store.open();
  const { folder, scripts } = settings;
  return {
    sets: store.sets,
    place: store.place,
    /** Throws PACKAGES_UNABLE, and what the store and the installer throw. */
    take: async (wanted: Wanted, { signal, onProgress }: CallHooks): Promise<PackageSet> => {
      const set = await store.find(wanted);
      if (set !== undefined) return set;
      if (installing === null) throw codeErrors.PACKAGES_UNABLE({ packages: [...wanted.keys()] });
      onProgress(`installing ${[...wanted.keys()].join(', ')}`);
      const asked = { ...installing, store: folder, scripts };
      const installer = {
        removeLeft: () => removeLeftInstallers(asked),
        install: (place: InstallPlace) => installPackages(asked, place, { wanted, signal }),
      };
      return store.take(wanted, installer, signal);
    },
    /** Says that it is used; false when it is gone. */
    use: store.use,
    list: async (): Promise<readonly Package[]> => {
      const all = (await store.list()).flatMap((set) => packagesIn(set, Object.keys(set.wanted)));
      const byText = new Map(all.map((one) => [`${one.name}@${one.version}`, one]));
      return [...byText.keys()].toSorted().flatMap((text) => byText.get(text) ?? []);
    },
  };
}

/** Pure. */
export const packagesIn = ({ versions }: PackageSet, names: Iterable<string>): readonly Package[] =>
  [...names].map((name) => ({ name, version: versions[name] ?? '' }));
