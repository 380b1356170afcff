import { decideGcEntry } from '../../../domain/orgs/gc-ledger/gc-decisions.mutations.ts';
import { recordGcEvents } from '../../../domain/orgs/gc-ledger/gc-events.mutations.ts';
import { listGcEntries } from '../../../domain/orgs/gc-ledger/gc-list.queries.ts';
import { recordOrgCheck } from '../../../domain/orgs/gc-ledger/gc-org-check.mutations.ts';
import { type Decision, GC_BATCH_MAX } from '../../../domain/orgs/gc-ledger/gc-ledger-rules.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { NoContent } from '../../http/parameters.ts';
import { JsonText, type Page, pageReply } from '../../http/replies.ts';
import { DecisionIn, EventsIn, GcEntries, LedgerQuery, OrgCheckIn } from './gc-ledger.schemas.ts';

const GROUP = 'GC ledger';
/** Each element counts, and each of its four members; the rest is around them. */
const JSON_MEMBERS_MAX = GC_BATCH_MAX * 6;

type ListedEntry = Awaited<ReturnType<typeof listGcEntries>>['items'][number];

/** A page as JSON: to parse 500 entries with their histories by the schema would take most of the time. */
const listText = (repositoryIdentifier: string, entries: readonly ListedEntry[], page: Page): JsonText =>
  new JsonText(
    JSON.stringify({
      items: entries.map(({ detectedAt, lastEventAt, createdAt, updatedAt, history, presence, ...entry }) => ({
        repositoryIdentifier,
        ...entry,
        detectedAt: detectedAt === null ? null : isoOf(detectedAt),
        lastEventAt: isoOf(lastEventAt),
        createdAt: isoOf(createdAt),
        updatedAt: isoOf(updatedAt),
        history: history.map((step) => ({ ...step, at: isoOf(step.at) })),
        presence: presence.map((each) => ({ ...each, checkedAt: isoOf(each.checkedAt) })),
      })),
      ...page,
    }),
  );

const decisionRoute = (
  decision: Decision,
  texts: { operationId: string; summary: string; description: string; audit: string },
) =>
  defineRoute({
    ...texts,
    method: 'patch',
    path: `/api/gc-ledger/${decision}`,
    group: GROUP,
    roles: ['owner', 'member'],
    projectScope: 'row',
    body: DecisionIn,
    status: 204,
    response: NoContent,
    errors: ['invalid_transition'],
    async handle({ body: { repositoryIdentifier, branch, reason = null, ...component } }, { tx }) {
      await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        await decideGcEntry(work, { project, branch }, component, decision, reason);
      });
    },
  });

export const gcLedgerRoutes = [
  defineRoute({
    operationId: 'recordGcEvents',
    method: 'post',
    path: '/api/gc-ledger/events',
    group: GROUP,
    summary: 'Report components that packages of a branch have dropped',
    description: [
      'An event sets the status of its entry, unless that is dismissed; a repeated component counts once, by its last event. Then all open entries of the branch (detected, moved) are derived from the manifests of its packages, also when `events` is empty: in the manifest of its own package, a component is `restored`; in that of another package of the branch, `moved`; in a `destructiveChanges` of the branch, `handled`; in a manifest of another repository, for this branch or for its own default branch, `owned-elsewhere`. The first that applies holds; of dismissed entries, only the first. Without a net change, only `lastEventAt` changes.',
      'The manifest of a package is the document of its name in the collection `manifests/{repositoryIdentifier}:{branch}` of the store `packages`: `{"payload": {"Package": {"types": [{"name", "members"}]}}, "destructiveChanges": {"Package": …}}`, the latter optional; a lone `types` or `members` needs no array. `*` covers all of its type but standard objects and contents of folders; it counts in manifests of the branch only, and not in `destructiveChanges`. Children are named for themselves (`CustomField` `Account.Region__c`); a custom object in `destructiveChanges` takes its children along. Entries of a package without a manifest, or with one that cannot be read, are not derived: the audit entry names the latter in `unreadableManifests`.',
    ].join('\n\n'),
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: EventsIn,
    jsonMembersMax: JSON_MEMBERS_MAX,
    status: 204,
    response: NoContent,
    audit: 'gc.events_recorded',
    async handle({ body: { repositoryIdentifier, branch, events } }, { tx, log }) {
      const { unreadable } = await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        return recordGcEvents(work, { project, branch }, events);
      });
      if (unreadable.length > 0) log.warn({ repositoryIdentifier, branch, unreadable }, 'manifests cannot be read');
    },
  }),
  defineRoute({
    operationId: 'listGcEntries',
    method: 'get',
    path: '/api/gc-ledger',
    group: GROUP,
    summary: 'List the components that packages of a repository have dropped',
    description: 'Sorted by branch, package, type and name. `total` is exact.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: LedgerQuery,
    status: 200,
    response: GcEntries,
    async handle({ query }, { reads, requestUrl }) {
      const { repositoryIdentifier, branch, status: statuses, package: packageName, limit, offset } = query;
      const project = await projectInRequest(reads, repositoryIdentifier);
      const filter = { branch, statuses, packageName };
      const { items, total } = await listGcEntries(reads, project.id, filter, { limit, offset });
      const page = { limit, offset, total };
      return pageReply(requestUrl, page, listText(repositoryIdentifier, items, page));
    },
  }),
  decisionRoute('dismiss', {
    operationId: 'dismissGcEntry',
    summary: 'Dismiss a dropped component: it stays so although it is detected again',
    description:
      'For people. Allowed from `detected`; a dismissed one stays as it is (204), any other status gets 409. A dismissal ends when the component is restored.',
    audit: 'gc.dismissed',
  }),
  decisionRoute('reopen', {
    operationId: 'reopenGcEntry',
    summary: 'Reopen a dismissed component: it is detected again',
    description: 'For people. A detected one stays as it is (204), any other status gets 409.',
    audit: 'gc.reopened',
  }),
  defineRoute({
    operationId: 'recordGcOrgCheck',
    method: 'post',
    path: '/api/gc-ledger/org-check',
    group: GROUP,
    summary: 'Report which dropped components the org of an environment still has',
    description: [
      'The environment must be active, have an org and track the branch; else 400. Components that the ledger does not have are passed over.',
      'What an org said counts for 7 days while the environment names that org, and not after the component is detected anew or was restored in between; `unknown` never counts as absent. A component that is absent in the orgs of all environments which track the branch, active or not, is removed from the ledger; the audit trail keeps its history (`gc.removed`). One that is absent in those of the active environments of category `release` alone is `reclaimed`, unless it is restored or dismissed; when it is present in one of these again, it is `detected`, or what the manifests make of that.',
    ].join('\n\n'),
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: OrgCheckIn,
    jsonMembersMax: JSON_MEMBERS_MAX,
    status: 204,
    response: NoContent,
    audit: ['gc.org_checked', 'gc.removed'],
    async handle({ body: { repositoryIdentifier, branch, environment, results } }, { tx }) {
      await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        await recordOrgCheck(work, { project, branch }, { environment, results });
      });
    },
  }),
];
