import type { Client } from './generated/client/index.ts';
import type { Problem } from './generated/types.gen.ts';
import { type AnyResult, type DataOf, ProblemError } from './problems.ts';

type Query = Record<string, unknown>;

/** Any operation that answers a list; `options` as the operation takes them. */
type ListOperation<Options, Result> = (options: Options) => Promise<Result>;

type Listed = { client: Client };

/** Names of the members of a page that are lists. */
type ListsOf<Page> = { [Name in keyof Page]: Page[Name] extends readonly unknown[] ? Name : never }[keyof Page];

type ElementOf<Page, Name> = Page extends readonly (infer Element)[]
  ? Element
  : Name extends keyof Page
    ? Page[Name] extends readonly (infer Element)[]
      ? Element
      : never
    : never;

/** The list of a page by itself, if it has but one. */
type OnlyList<Page> = Page extends readonly unknown[] ? never : 'items' extends keyof Page ? 'items' : ListsOf<Page>;

/**
 * The pages of a list, one after the other: by `offset`, by `page`, by `cursor`, or by the last key, as the operation has
 * it. Throws `ProblemError`.
 */
export async function* pages<Options extends Listed, Result extends AnyResult>(
  operation: ListOperation<Options, Result>,
  options: Options,
): AsyncGenerator<DataOf<Result>, void, undefined> {
  const { query } = options as { query?: Query };
  let place: Query = {};
  for (;;) {
    const { data, error, response }: AnyResult = await operation({ ...options, query: { ...query, ...place } });
    if (error !== undefined) throw new ProblemError(error as Problem);
    yield data as DataOf<Result>;
    const next = nextQuery(data, response);
    if (next === undefined) return;
    place = next;
  }
}

/**
 * The elements of a list over all pages: of the page itself, of its `items`, or of its only list; with `member`, of that
 * list. Throws `ProblemError`.
 */
export async function* items<Options extends Listed, Result extends AnyResult, Name = OnlyList<DataOf<Result>>>(
  operation: ListOperation<Options, Result>,
  options: Options,
  member?: Name & ListsOf<DataOf<Result>>,
): AsyncGenerator<ElementOf<DataOf<Result>, Name>, void, undefined> {
  for await (const page of pages(operation, options))
    yield* elementsOf(page, member) as ElementOf<DataOf<Result>, Name>[];
}

function elementsOf(page: unknown, member: PropertyKey | undefined): unknown[] {
  if (Array.isArray(page)) return page;
  const record = page as Record<PropertyKey, unknown>;
  if (member !== undefined) return record[member] as unknown[];
  if (Array.isArray(record.items)) return record.items;
  const lists = Object.values(record).filter((value) => Array.isArray(value));
  const [only] = lists;
  if (only === undefined || lists.length > 1) throw new TypeError('The reply has no list, or several: name one');
  return only;
}

/** What asks for the page behind one: the `Link` to it, or the cursor in its body. */
function nextQuery(page: unknown, response: Response | undefined): Query | undefined {
  const { nextCursor, nextCursorCreatedAt, nextCursorId } = page as Record<string, unknown>;
  if (typeof nextCursorId === 'string') return { cursorCreatedAt: nextCursorCreatedAt, cursorId: nextCursorId };
  if (typeof nextCursor === 'string') return { cursor: nextCursor };
  const link = response?.headers.get('link') ?? '';
  const [, target] = /<([^>]*)>\s*;\s*rel="next"/.exec(link) ?? [];
  if (target === undefined) return undefined;
  const { searchParams } = new URL(target, 'http://localhost');
  return Object.fromEntries(PAGING.flatMap((name) => (searchParams.has(name) ? [[name, searchParams.get(name)]] : [])));
}

/** Only what moves on: everything else stays as the caller gave it. */
const PAGING = ['offset', 'page', 'cursor', 'after', 'before'];
