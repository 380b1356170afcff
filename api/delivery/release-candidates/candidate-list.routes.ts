import { z } from 'zod';
import { listCandidates } from '../../../domain/delivery/release-candidates/candidate-list.queries.ts';
import {
  CANDIDATE_SORTS,
  COUNTED_MAX,
  type CandidateCursor,
  type CandidateSort,
  searchCandidates,
} from '../../../domain/delivery/release-candidates/candidate-search.queries.ts';
import { shownHold } from '../../../domain/delivery/release-candidates/holds/hold-rules.ts';
import { holdsOf } from '../../../domain/delivery/release-candidates/holds/holds.queries.ts';
import { isKnownStatus, unknownStatus } from '../../../domain/delivery/release-candidates/candidate-status-rules.ts';
import { isId } from '../../../domain/kernel/shared/ids.ts';
import { isoOf, momentOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { type ProjectFacts, projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { DateTime, Name, queryFlag, queryInt, RepositoryIdentifier } from '../../http/parameters.ts';
import { JsonText, link, pageReply, reply } from '../../http/replies.ts';
import { listText } from './candidate-view.ts';
import { Branch, Domain, ReleaseCandidate } from './release-candidates.schemas.ts';

const Given = z.tuple([z.enum(CANDIDATE_SORTS), z.string().max(255), z.string().refine(isId)]);

/** Whether a list of that order can have ended at a value; PostgreSQL has no U+0000 in texts. */
const isPlace = (sort: CandidateSort, value: string): boolean =>
  sort.endsWith('releaseName') ? value !== '' && !value.includes('\0') : momentOf(value) !== undefined;

/** Opaque to clients: order, value and id of the last candidate of a page. */
const Cursor = z.string().transform((text, context): CandidateCursor => {
  const given = Given.safeParse(parsed(Buffer.from(text, 'base64url').toString('utf8')));
  const [sort, value, id] = given.data ?? [];
  if (sort !== undefined && value !== undefined && id !== undefined && isPlace(sort, value)) return { sort, value, id };
  context.addIssue({ code: 'custom', message: 'not a cursor of this list' });
  return z.NEVER;
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const cursorAfter = ({ sort, value, id }: CandidateCursor): string =>
  Buffer.from(JSON.stringify([sort, value, id])).toString('base64url');

const Query = z
  .strictObject({
    repositoryIdentifier: RepositoryIdentifier.optional(),
    domain: Domain.optional(),
    branch: Branch.optional(),
    status: z.string().max(500).optional().meta({ description: 'One or more statuses, separated by commas' }),
    includeFinalized: queryFlag(false),
    q: Name.optional().meta({
      description: 'A part of the name of the release, in any case, or the beginning of the commit id',
    }),
    createdFrom: DateTime.optional().meta({ description: 'Inclusive' }),
    createdTo: DateTime.optional().meta({ description: 'Exclusive' }),
    sort: z.enum(CANDIDATE_SORTS).optional().meta({ description: 'With `-` the latest first. Default: `-createdAt`' }),
    cursor: Cursor.optional().meta({ override: { type: 'string', description: '`nextCursor` of the previous page' } }),
    limit: queryInt(1, 200, 50),
    offset: queryInt(0, 10_000_000, 0),
  })
  .refine(({ sort, cursor }) => cursor === undefined || sort === undefined || cursor.sort === sort, {
    path: ['cursor'],
    message: 'is of a list in another order',
  });

function statusesOf(text: string | undefined, project: ProjectFacts | undefined): string[] | undefined {
  const statuses = text?.split(',').map((word) => word.trim());
  if (!project) return statuses;
  const custom = project.configuration.customReleaseStatuses;
  const unknown = statuses?.find((status) => !isKnownStatus(status, custom));
  if (unknown !== undefined) throw unknownStatus(unknown, custom);
  return statuses;
}

const NEWEST_FIRST = '-createdAt';

type Found = Awaited<ReturnType<typeof listCandidates>>;

/** A page of the newest candidates of a project: put together from the texts of the database. */
function plainPage(
  requestUrl: string,
  { items, total }: Found,
  text: string,
  { limit, offset }: { limit: number; offset: number },
) {
  const last = offset + items.length < total ? items.at(-1) : undefined;
  const next = last && { sort: NEWEST_FIRST, value: isoOf(last.createdAt), id: last.id };
  const nextCursor = next ? JSON.stringify(cursorAfter(next as CandidateCursor)) : 'null';
  const body = `{"items":${text},"total":${total},"limit":${limit},"offset":${offset},"nextCursor":${nextCursor}}`;
  return pageReply(requestUrl, { limit, offset, total }, new JsonText(body));
}

export const candidateListRoutes = [
  defineRoute({
    operationId: 'listReleaseCandidates',
    method: 'get',
    path: '/api/release-candidates',
    group: 'Release candidates',
    summary: 'List the release candidates of a repository, or of all, newest first unless sorted otherwise',
    description: `Finalized candidates are omitted unless \`includeFinalized\` is true or \`status\` includes \`finalized\`. \`total\` is exact with \`repositoryIdentifier\`, and without \`q\`, times and a cursor; else candidates are counted up to ${COUNTED_MAX}. \`nextCursor\` leads to the next page, however deep, and does not move when candidates are added; it is null at the end.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: Query,
    status: 200,
    response: z.object({
      items: z.array(ReleaseCandidate),
      total: z.int(),
      limit: z.int(),
      offset: z.int(),
      nextCursor: z.string().nullable(),
    }),
    async handle({ query }, { reads, requestUrl, now }) {
      const { repositoryIdentifier, q, createdFrom, createdTo, sort, cursor, limit, offset, status, ...given } = query;
      const project =
        repositoryIdentifier === undefined ? undefined : await projectInRequest(reads, repositoryIdentifier);
      const filter = { ...given, statuses: statusesOf(status, project) };
      const isSearch = [q, createdFrom, createdTo, cursor].some((one) => one !== undefined);
      if (project && !isSearch && (sort ?? NEWEST_FIRST) === NEWEST_FIRST) {
        const found = await listCandidates(reads, project, filter, { limit, offset });
        const holds = await holdsOf(reads, found.items, now());
        return plainPage(requestUrl, found, listText(found.items, project.identifier, holds), { limit, offset });
      }
      const {
        items: found,
        total,
        next,
      } = await searchCandidates(
        reads.with({ pace: 'varies' }),
        { ...filter, project, q, createdFrom, createdTo },
        { sort: cursor?.sort ?? sort ?? NEWEST_FIRST, cursor, limit, offset },
      );
      const holds = await holdsOf(reads, found, now());
      const items = found.map((candidate) => ({ ...candidate, hold: shownHold(holds(candidate)) }));
      const nextCursor = next ? cursorAfter(next) : null;
      const leads = nextCursor !== null && { Link: link(requestUrl, { cursor: nextCursor, offset: 0 }, 'next') };
      return reply({ items, total, limit, offset, nextCursor }, { headers: { ...leads } });
    },
  }),
];
