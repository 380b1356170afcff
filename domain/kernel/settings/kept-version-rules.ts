export const STORES = ['doc', 'changelog', 'packages', 'builds'] as const;
export type Store = (typeof STORES)[number];

/** How many earlier versions of a document are kept, by store. */
export type KeptVersions = Record<Store, number>;

export const KEPT_VERSIONS_MAX = 1_000;
const SETTING = /^[a-z]+=\d{1,4}(,[a-z]+=\d{1,4})*$/;

/** Reads `packages=20,builds=5`; a store that is not named keeps none. Undefined for a malformed or unknown one. */
export function parseKeptVersions(text: string): KeptVersions | undefined {
  if (!SETTING.test(text)) return undefined;
  const kept: KeptVersions = { doc: 0, changelog: 0, packages: 0, builds: 0 };
  for (const part of text.split(',')) {
    const [store = '', count = ''] = part.split('=');
    if (!isStore(store) || Number(count) > KEPT_VERSIONS_MAX) return undefined;
    kept[store] = Number(count);
  }
  return kept;
}

const isStore = (text: string): text is Store => (STORES as readonly string[]).includes(text);
