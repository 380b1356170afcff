import type { AssignmentState, AssignmentType } from '../../../domain/review/review-assignments/assignment-rules.ts';
import type { AssignmentRow } from '../../../domain/review/review-assignments/review-assignments.queries.ts';
import { escapeHtml } from '../../../domain/kernel/text/html-rules.ts';
import { alarm, page, titled } from '../../http/server/html-page.ts';
import type { RawReply } from '../../http/replies.ts';
import { orgAddress } from '../../../domain/orgs/crm-orgs/org-rules.ts';

export interface ReviewEnvPage {
  basePath: string;
  assignment: AssignmentRow;
  /** Whether the visitor may extend and release it. */
  isChangeable: boolean;
  /** Hours from now that it may last at most; 0: it cannot be extended. */
  hoursLeft: number;
  error?: string | undefined;
}

const STATES: Record<AssignmentState, string> = {
  pending: 'Waiting for an org',
  active: 'Active',
  released: 'Released',
  expired: 'Expired',
  failed: 'Failed',
};

/** One that waits is looked at again after so many seconds, without a script. */
const REFRESH = '<meta http-equiv="refresh" content="15">\n';

const shownTime = (text: string): string =>
  `${new Date(text).toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })} UTC`;

const moment = (text: string): string => `<time datetime="${new Date(text).toISOString()}">${shownTime(text)}</time>`;

/** Refusals name the time as the interface does. */
const withShownTimes = (error: string | undefined): string | undefined =>
  error?.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, shownTime);

const HEADINGS: Record<AssignmentType, string> = {
  pr: 'Review of pull request',
  issue: 'Review of issue',
  user: 'Review environment of',
  custom: 'Review environment:',
};

/** What somebody has, or waits for, for a review; works without scripts. */
export function reviewEnvPage({ basePath, assignment, isChangeable, hoursLeft, error }: ReviewEnvPage): RawReply {
  const { state, targetType, targetName, branch, orgUsername, requestedBy, position } = assignment;
  const rows: [string, string | null][] = [
    ['Status', STATES[state] + (position === null ? '' : `, number ${position} in line`)],
    ['Repository', escapeHtml(assignment.repositoryIdentifier)],
    [targetType === 'pool' ? 'Pool' : 'Environment', escapeHtml(targetName)],
    ['Branch', branch === null ? null : escapeHtml(branch)],
    ['Org', orgUsername === null ? null : escapeHtml(orgUsername)],
    ['Requested by', escapeHtml(requestedBy.email)],
    ['Until', state === 'active' ? untilOf(assignment) : null],
    ['Ended', assignment.endedAt === null ? null : moment(assignment.endedAt)],
    ['Reason', assignment.reason === null ? null : escapeHtml(assignment.reason)],
  ];
  const list = rows.flatMap(([name, value]) => (value === null ? [] : [`<dt>${name}</dt><dd>${value}</dd>`]));
  const action = escapeHtml(`${basePath}/review-env/${assignment.id}`);
  const heading = `${HEADINGS[assignment.assignmentType]} ${assignment.assignmentKey}`;
  const parts = [
    `<h1>${escapeHtml(heading)}</h1>`,
    alarm(withShownTimes(error)),
    `<dl>\n${list.join('\n')}\n</dl>`,
    ...(state === 'active' && orgUsername !== null
      ? [`<a class="button" href="${escapeHtml(basePath + orgAddress(orgUsername))}">Open the org</a>`]
      : []),
    ...(isChangeable && hoursLeft > 0 ? [extendForm(action, hoursLeft)] : []),
    ...(isChangeable && (state === 'active' || state === 'pending') ? [releaseForm(action, assignment)] : []),
  ];
  const title = titled(heading, error);
  return page(title, parts.filter((part) => part !== '').join('\n'), state === 'pending' ? REFRESH : '');
}

const untilOf = ({ expiresAt }: AssignmentRow): string => (expiresAt === null ? 'No end' : moment(expiresAt));

const extendForm = (action: string, hoursLeft: number): string => `<form method="post" action="${action}">
<input type="hidden" name="action" value="extend">
<label for="hours">Extend, in hours from now <span class="hint">(up to ${hoursLeft})</span></label>
<input id="hours" name="hours" type="number" required min="1" max="${hoursLeft}" value="${Math.min(24, hoursLeft)}">
<button class="second" type="submit">Extend</button>
</form>`;

const releaseForm = (
  action: string,
  { state, targetType }: AssignmentRow,
): string => `<form method="post" action="${action}">
<input type="hidden" name="action" value="release">
<button class="second" type="submit">${state === 'pending' ? 'Stop waiting' : targetType === 'pool' ? 'Release the org' : 'Release the environment'}</button>
</form>`;

/** For an id that the visitor's tenant does not have. */
export const noReviewEnvPage = (): RawReply =>
  page(
    'No such review environment',
    '<h1>No such review environment</h1>\n<p>The link is wrong, or it belongs to another tenant than the one that you are signed in to.</p>',
  );
