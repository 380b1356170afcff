/** Most pairs of metadata of an org. */
export const METADATA_MAX = 50;

/** Metadata after a patch; null takes a pair out. */
export const mergedMetadata = (
  current: Record<string, string>,
  patch: Record<string, string | null>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...current, ...patch }).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );

/** Pairs as `k1=v1,k2=v2` or as a JSON object of strings; undefined for anything else. */
export function parseMetadataFilter(text: string): Record<string, string> | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    let parsed: object;
    try {
      parsed = JSON.parse(trimmed) as object;
    } catch {
      return undefined;
    }
    const pairs = Object.entries(parsed) as [string, unknown][];
    return pairs.every((pair): pair is [string, string] => typeof pair[1] === 'string')
      ? Object.fromEntries(pairs)
      : undefined;
  }
  const pairs = trimmed.split(',').map((pair) => pair.split(/=(.*)/s).map((part) => part.trim()));
  return pairs.every(([key = '', value]) => key !== '' && value !== undefined)
    ? Object.fromEntries(pairs.map(([key, value]) => [key, value]))
    : undefined;
}
