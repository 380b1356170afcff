import type { Topic } from './topic-rules.ts';

/** That something changed, and never how: whoever may read it asks again. */
export interface Change {
  topic: Topic;
  /** Null: something of this topic. */
  id: string | null;
  /** Null: it belongs to no repository. */
  repositoryIdentifier: string | null;
}

/** What processes have to tell each other of what they committed: by tenant, each change once. */
export interface Notice {
  changes: ReadonlyMap<string, readonly Change[]>;
  /** Tenants of which more changed than the notice has room for; `all`: whichever tenant. */
  again: 'all' | readonly string[];
}

/** Most changes of a tenant that wait for the next notice: more have no room in one. */
export const WAITING_MAX = 300;

/** The same thing is named once. */
export const keyOfChange = ({ topic, id, repositoryIdentifier }: Change): string =>
  `${topic}\n${id ?? ''}\n${repositoryIdentifier ?? ''}`;

/** Ids by topic and repository; the empty text stands for none. */
type Grouped = Record<string, Partial<Record<Topic, string[]>>>;

interface NoticeText {
  t: Record<string, Grouped>;
  a: 'all' | string[];
}

function grouped(changes: readonly Change[]): Grouped {
  const groups: Grouped = {};
  for (const { topic, id, repositoryIdentifier } of changes)
    ((groups[repositoryIdentifier ?? ''] ??= {})[topic] ??= []).push(id ?? '');
  return groups;
}

const ungrouped = (groups: Grouped): Change[] =>
  Object.entries(groups).flatMap(([repository, topics]) =>
    Object.entries(topics).flatMap(([topic, ids]) =>
      ids.map((id) => ({ topic: topic as Topic, id: id || null, repositoryIdentifier: repository || null })),
    ),
  );

const bytesOf = (text: string): number => Buffer.byteLength(text);

/**
 * A notice as text of at most so many bytes. The tenants with the fewest changes are named with them; those that have no
 * room are named alone, and where not even that has room, all are meant.
 */
export function noticeText({ changes, again }: Notice, maxBytes: number): string {
  const everyone = JSON.stringify({ t: {}, a: 'all' } satisfies NoticeText);
  if (again === 'all') return everyone;
  const members = [...changes].map(([tenantId, of]) => ({
    tenantId,
    text: `${JSON.stringify(tenantId)}:${JSON.stringify(grouped(of))}`,
  }));
  members.sort((a, b) => a.text.length - b.text.length);
  const spent = new Set(again);
  const room = (tenants: number) => maxBytes - bytesOf(`{"t":{},"a":[]}`) - tenants * (36 + 3);
  let left = room(spent.size);
  const named: string[] = [];
  for (const { tenantId, text } of members) {
    const isKept = !spent.has(tenantId) && bytesOf(text) + 1 <= left;
    if (isKept) named.push(text);
    else spent.add(tenantId);
    left -= isKept ? bytesOf(text) + 1 : 36 + 3;
  }
  const text = `{"t":{${named.join(',')}},"a":${JSON.stringify([...spent])}}`;
  return bytesOf(text) <= maxBytes ? text : everyone;
}

/** The notice of a text; undefined for one that is none. */
export function noticeOf(text: string): Notice | undefined {
  try {
    const { t, a } = JSON.parse(text) as NoticeText;
    return {
      changes: new Map(Object.entries(t).map(([tenantId, groups]) => [tenantId, ungrouped(groups)])),
      again: a === 'all' ? a : a.map(String),
    };
  } catch {
    return undefined;
  }
}

/** A place in the changes of a tenant, as one process counts them. */
export interface Position {
  epoch: string;
  n: number;
}

export const positionText = ({ epoch, n }: Position): string => `${epoch}-${n}`;

/** Undefined for what is no position. */
export function positionOf(text: string): Position | undefined {
  const [, epoch, n] = /^([a-z0-9]{1,40})-(\d{1,15})$/.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, n: Number(n) };
}
