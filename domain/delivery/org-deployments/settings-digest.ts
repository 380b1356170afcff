import { createHash } from 'node:crypto';
import type { SourceOrder } from '../source/source-build.port.ts';

/** Tells settings apart by which something was built; null: there were none. */
export function settingsDigest({
  replacements = [],
  ignoredPaths = [],
}: Pick<SourceOrder, 'replacements' | 'ignoredPaths'>): string | null {
  if (replacements.length + ignoredPaths.length === 0) return null;
  const parts = [replacements.map(({ find, replaceWith, files = [] }) => [find, replaceWith, files]), ignoredPaths];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
