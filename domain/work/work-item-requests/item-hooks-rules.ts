import type { UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';
import type { ItemsLocation } from '../work-items/tracker-location-rules.ts';

/** A work item as it is after a change. */
export interface WorkItemNews {
  platform: 'host-a' | 'host-b';
  /** Its number. */
  workItemKey: string;
  isClosed: boolean;
  /** ISO 8601; when it was changed, by the host's clock. */
  at: string;
  /** Where it is, as far as the hook says. */
  location: ItemsLocation;
}

/** An issue of host-a: whatever happened to it, its hooks say whether it is closed. @param repository `owner/repo`. */
export function readIssueA(issue: UntrustedJson, repository: string | null): WorkItemNews | null {
  const [number, state, at] = [
    issue.at('number').integer(),
    issue.at('state').text(),
    issue.at('updated_at').dateTime(),
  ];
  if (number === null || state === null || at === null || repository === null) return null;
  return { platform: 'host-a', workItemKey: `${number}`, isClosed: state === 'closed', at, location: { repository } };
}

/** Names of states that are done in the processes of host-b; its hooks name no category. */
const CLOSED_STATES = new Set(['Closed', 'Done', 'Completed', 'Removed', 'Inactive']);

/**
 * A work item of host-b. What is done has a date of that in every process.
 * @param occurredAt of the hook.
 */
export function readWorkItemB(resource: UntrustedJson, occurredAt: string | null): WorkItemNews | null {
  const fields = resource.at('revision', 'fields');
  const [id, state] = [resource.at('workItemId').integer(), fields.at('System.State').text()];
  const at = fields.at('System.ChangedDate').dateTime() ?? occurredAt;
  if (id === null || state === null || at === null) return null;
  const isDone = fields.at('Microsoft.VSTS.Common.ClosedDate').dateTime() !== null;
  const project = fields.at('System.TeamProject').text();
  const location = project === null ? {} : { project };
  return { platform: 'host-b', workItemKey: `${id}`, isClosed: isDone || CLOSED_STATES.has(state), at, location };
}
