/** An event as it was announced. */
export interface Happening {
  event: string;
  data: unknown;
}

/** What the log says of it. */
export interface HappeningEntry {
  level: 'info' | 'warn';
  said: string;
  members: Record<string, unknown>;
}

/** Members of an entry, by their names, and where the data of the event has them. */
type Members = Readonly<Record<string, string>>;

const PLACE: Members = { repository: 'repositoryIdentifier', environment: 'environmentName' };
const RUN: Members = { run: 'id', type: 'taskType', ...PLACE };
const ENDED_RUN: Members = { ...RUN, status: 'status', durationMs: 'durationMs', reason: 'error' };
const RELEASE: Members = { release: 'releaseName', domain: 'domain', ...PLACE };
const DEPLOYMENT: Members = { ...RELEASE, status: 'status', run: 'executionId', by: 'deployedBy' };
const APPROVAL: Members = {
  approval: 'id',
  status: 'status',
  type: 'taskType',
  ...RELEASE,
  run: 'executionId',
  by: 'resolvedBy',
};
const ORG: Members = { org: 'orgUsername', reason: 'error' };

/** What operators are told of, by event: what was done, and what needs somebody. */
const TOLD: ReadonlyMap<string, readonly [said: string, members: Members, level?: 'warn']> = new Map([
  ['flow.started', ['run began', { ...RUN, by: 'startedBy' }]],
  ['flow.waiting', ['run waits', { ...RUN, reason: 'reason', until: 'nextWindowAt' }]],
  ['flow.completed', ['run ended', ENDED_RUN]],
  ['flow.failed', ['run ended', ENDED_RUN]],
  ['flow.cancelled', ['run ended', ENDED_RUN]],
  ['approval.approved', ['approval settled', APPROVAL]],
  ['approval.rejected', ['approval settled', APPROVAL]],
  ['approval.expired', ['approval settled', APPROVAL]],
  ['approval.stale', ['approval settled', APPROVAL]],
  ['promotion.overridden', ['policies overridden', { ...RELEASE, run: 'executionId', by: 'by', reason: 'reason' }]],
  ['deployment.completed', ['release deployed', DEPLOYMENT]],
  ['deployment.failed', ['release not deployed', DEPLOYMENT]],
  ['release.held', ['release held', { ...RELEASE, by: 'by', reason: 'reason', until: 'until' }]],
  ['release.hold_lifted', ['release no longer held', { ...RELEASE, by: 'by', end: 'end' }]],
  ['release.rolled_back', ['release rolled back', { ...RELEASE, by: 'by', reason: 'reason' }]],
  ['release_candidate.finalized', ['release finalized', { ...RELEASE, with: 'supersededBy', by: 'changedBy' }]],
  ['webhook.disabled', ['webhook disabled', { webhook: 'id', name: 'name', reason: 'reason' }, 'warn']],
  ['chat_workspace.disconnected', ['chat workspace disconnected', { team: 'teamName', reason: 'reason' }, 'warn']],
  ['org.auth_failed', ['sign-in to an org failed', ORG, 'warn']],
  ['org.auth_recovered', ['sign-in to an org succeeds again', ORG]],
] as const);

/** The entry about an event; undefined for one that operators are not told of. */
export function happeningEntry({ event, data }: Happening, tenantSlug: string): HappeningEntry | undefined {
  const told = TOLD.get(event);
  if (!told) return undefined;
  const [said, members, level = 'info'] = told;
  const values = Object.entries(members).map(([name, member]) => [name, (data as Record<string, unknown>)[member]]);
  const known = values.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return { level, said, members: { tenant: tenantSlug, ...Object.fromEntries(known) } };
}
