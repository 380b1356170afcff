import { backoffMs } from '../../kernel/shared/backoff-rules.ts';
import type { RetrieveOrder } from '../crm/crm-metadata.port.ts';
import type { CrmFailure } from '../crm/crm-platform.port.ts';
import { manifestTypeOf } from './explorer-rules.ts';

/** A retrieve has 10,000 files at most; a component has two as a rule. */
export const CHUNK_MAX = 4_000;

/** What a profile holds depends on what is retrieved with it: by themselves they are always the same. */
const ALONE_TYPES = new Set(['Profile']);

export interface DueComponent {
  id: string;
  metadataType: string;
  memberName: string;
}

/** The first of the components that are due, as many as go into one retrieve. */
export function chunkOf<Component extends DueComponent>(due: readonly Component[], size: number): Component[] {
  const [first] = due;
  if (!first) return [];
  const isAlone = (component: DueComponent) => ALONE_TYPES.has(component.metadataType);
  return due.filter((component) => isAlone(component) === isAlone(first)).slice(0, size);
}

/** The manifest of a chunk; types and members sorted. */
export function orderOf(chunk: readonly Pick<DueComponent, 'metadataType' | 'memberName'>[]): RetrieveOrder {
  const members = new Map<string, string[]>();
  for (const { metadataType, memberName } of chunk) {
    const name = manifestTypeOf(metadataType);
    const known = members.get(name);
    if (known) known.push(memberName);
    else members.set(name, [memberName]);
  }
  return {
    types: [...members]
      .map(([name, names]) => ({ name, members: names.toSorted() }))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1)),
  };
}

/** Codes that ask for smaller orders: the platform's limits, and the service's for archives. */
const TOO_LARGE_CODES = new Set(['LIMIT_EXCEEDED', 'ZIP_ENTRIES', 'ZIP_SIZE', 'ZIP_ENTRY_SIZE']);

/** Code of a failure of the object store, which is ours and not the org's. */
export const OBJECT_STORE = 'object_store';

/** Failures in a row after which a sync ends. */
const FAILURES_MAX = 4;
/** Damaged or hostile archives in a row after which a sync ends, since they seldom get better. */
const BAD_ARCHIVES_MAX = 2;
/** Components in a row that cannot be retrieved: the org then retrieves none at all. */
const LEFT_OUT_MAX = 20;

/**
 * What to do when a retrieve failed:
 * - `halve`: order fewer components
 * - `leave_out`: the one component that was ordered cannot be retrieved
 * - `pause`: the org's calls are used up for the time being
 * - `retry`: order anew; what an archive is lost with is asked for again
 * - `end`: the sync has failed
 */
export type AfterFailure = 'halve' | 'leave_out' | 'pause' | 'retry' | 'end';

/**
 * @param isRefusedByOrg the retrieve itself ended as failed, because of a component of it.
 * @param failures in a row, this one included.
 * @param leftOut components that were left out since an archive was stored, without those left out by earlier refreshes.
 */
export function afterFailure(
  { kind, code }: Pick<CrmFailure, 'kind' | 'code'>,
  {
    members,
    failures,
    isRefusedByOrg,
    leftOut,
  }: { members: number; failures: number; isRefusedByOrg: boolean; leftOut: number },
): AfterFailure {
  if (isRefusedByOrg || TOO_LARGE_CODES.has(code ?? '')) {
    if (members > 1) return 'halve';
    return leftOut < LEFT_OUT_MAX ? 'leave_out' : 'end';
  }
  if (kind === 'limited') return 'pause';
  if (kind === 'auth_failed' || code === OBJECT_STORE) return 'end';
  return failures < (code?.startsWith('ZIP') ? BAD_ARCHIVES_MAX : FAILURES_MAX) ? 'retry' : 'end';
}

/** Size of the next chunk after one that succeeded. */
export const grownSize = (size: number): number => Math.min(CHUNK_MAX, size * 2);

const POLL_MS = 500;

/** Milliseconds to wait before asking for the state of a retrieve, by how often it was asked before. */
export const pollDelayMs = (polls: number, firstMs: number = POLL_MS): number => backoffMs(polls + 1, firstMs, 30_000);

/** Milliseconds before the org is called again after so many failures in a row. */
export const retryDelayMs = (failures: number, pollMs: number = POLL_MS): number =>
  Math.min(60_000, 2 * pollMs * 4 ** (failures - 1));
