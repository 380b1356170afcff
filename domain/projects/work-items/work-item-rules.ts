/** Finds the keys of work items in a text by one pattern of the project. */
export type KeyFinder = (text: string) => string[];

/** Patterns for a project that has none of its own, by its provider. */
const DEFAULT_FILTERS: Readonly<Record<string, readonly string[]>> = {
  'tracker-a': ['\\b[A-Z][A-Z0-9]{1,9}-[0-9]{1,9}\\b'],
  'host-a': ['(?i)\\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?)[ :]+#([0-9]{1,9})\\b'],
  'host-b': ['\\bAB#([0-9]{1,9})\\b'],
};

interface WithWorkItems {
  workItems?: { provider?: string; workItemFilters?: string[]; baseUrl?: string };
}

/** The patterns by which a project's commits mention work items: its own, else the default ones of its provider. */
export const workItemFilters = ({ workItems = {} }: WithWorkItems): readonly string[] =>
  workItems.workItemFilters ?? DEFAULT_FILTERS[workItems.provider ?? ''] ?? [];

/** The most keys of one commit, so that a generated message cannot fill the memory. */
const KEYS_MAX = 10_000;
const KEY_LENGTH_MAX = 255;

/** The work items that a commit's message mentions, in order of their first mention. */
export const workItemsIn = (message: string, finders: readonly KeyFinder[]): string[] =>
  [...new Set(finders.flatMap((find) => find(message)))]
    .filter((key) => key !== '' && key.length <= KEY_LENGTH_MAX)
    .slice(0, KEYS_MAX);

/** To be raised when messages are read in another way, so that those imported before are read anew. */
export const MESSAGE_RULES = 2;

/** Subjects that the hosts write when they merge or squash, and the line that host-c style merges end with. */
const PULL_REQUESTS = [
  /^Pull request #(\d{1,9}):/,
  /^Merge pull request #(\d{1,9})\b/,
  /^Merged? PR #?(\d{1,9})\b/,
  /^Merged in .{1,200} \(pull request #(\d{1,9})\)$/,
  /\(#(\d{1,9})\)$/,
  /\(pull request #(\d{1,9})\)$/,
];
/** That line is the first or the last of a body, which may be long. */
const BODY_END = 10_000;
const MERGE_REQUEST = /^See merge request \S{0,255}!(\d{1,9})$/m;

/** Numbers of the pull requests that brought in a commit, from the subjects of merges and squashes. */
export function pullRequestsIn(subject: string, body: string): number[] {
  const ofSubject = PULL_REQUESTS.map((pattern) => pattern.exec(subject.trim())?.[1]);
  const ofBody = MERGE_REQUEST.exec(body.slice(0, BODY_END))?.[1] ?? MERGE_REQUEST.exec(body.slice(-BODY_END))?.[1];
  return [...new Set([...ofSubject, ofBody].flatMap((digits) => (digits === undefined ? [] : [Number(digits)])))];
}

/** The page of a work item: `baseUrl` with its `{key}` replaced, or with the key appended. */
export function workItemUrl(key: string, { workItems = {} }: WithWorkItems): string | null {
  const { baseUrl } = workItems;
  if (baseUrl === undefined) return null;
  const encoded = encodeURIComponent(key.replace(/^#/, ''));
  return baseUrl.includes('{key}') ? baseUrl.replaceAll('{key}', encoded) : `${baseUrl.replace(/\/$/, '')}/${encoded}`;
}
