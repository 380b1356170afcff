import { invalidField } from '../shared/errors.ts';
import { TRACKER_PLATFORMS, type TrackerPlace, type TrackerPlatform } from './work-tracker.port.ts';

/** Type of created work items where the project names none. */
const DEFAULT_ISSUE_TYPE = 'Task';

interface ProjectWithWorkItems {
  id: string;
  identifier: string;
  platform: string;
  configuration: { workItems?: { provider?: string; boards?: string[]; baseUrl?: string; issueType?: string } };
}

const isTracker = (platform: string | undefined): platform is TrackerPlatform =>
  TRACKER_PLATFORMS.some((tracker) => tracker === platform);

/** The tracker that a project's configuration names, else its own platform; undefined where that is none. */
export function trackerOf({ platform, configuration: { workItems = {} } }: ProjectWithWorkItems) {
  const { provider = platform } = workItems;
  return isTracker(provider) ? provider : undefined;
}

/**
 * Where the work items of a project are. Throws `invalid_request` for a project without a tracker.
 * @param asked the platform that the request names: that of the project's tracker, or of its repository.
 */
export function trackerPlace(project: ProjectWithWorkItems, asked?: TrackerPlatform): TrackerPlace {
  const { boards = [], issueType = DEFAULT_ISSUE_TYPE, baseUrl = null } = project.configuration.workItems ?? {};
  const own = trackerOf(project);
  const platform = asked === undefined || asked === project.platform ? (asked ?? own) : own;
  if (platform === undefined)
    throw invalidField('projectIdentifier', `The project ${project.identifier} has no work item provider`);
  if (asked !== undefined && asked !== platform)
    throw invalidField('projectIdentifier', `The project ${project.identifier} does not use ${asked}`);
  return {
    platform,
    projectId: project.id,
    repositoryIdentifier: project.identifier,
    boards,
    issueType,
    pagesUrl: baseUrl,
  };
}
