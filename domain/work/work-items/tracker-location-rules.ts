import type { IntegrationOptions } from '../../projects/integrations/integration-rules.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import { TRACKER_PLATFORMS, type TrackerTarget, type TrackerPlatform } from './work-tracker.port.ts';

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

/** Where at its tracker the work items of a project are. Keys of tracker-a name their project themselves. */
export interface ItemsLocation {
  /** Repository of host-a: `owner/repo`. */
  repository?: string;
  /** Organization of host-b. */
  organization?: string;
  project?: string;
}

/**
 * The location that the settings of the tracker's integration name, else the one of the project's repository. Undefined
 * where neither does.
 * @param identifier of the project.
 */
export function itemsLocation(
  platform: TrackerPlatform,
  identifier: string,
  settings: IntegrationOptions,
): ItemsLocation | undefined {
  const setting = (name: string): string | undefined => String(settings[name] ?? '') || undefined;
  if (platform === 'tracker-a') return {};
  if (platform === 'host-a') {
    const repository = setting('repository') ?? identifier;
    return repository.split('/').length === 2 ? { repository } : undefined;
  }
  const [first, second] = identifier.split('/');
  const [organization, project] = [setting('organization') ?? first, setting('project') ?? second];
  return organization === undefined || project === undefined ? undefined : { organization, project };
}

const isSame = (left: string | undefined, right: string): boolean => left?.toLowerCase() === right.toLowerCase();

/** Whether nothing that is said of a location is otherwise in another. */
export const isLocationWithin = (said: ItemsLocation, { repository, organization, project }: ItemsLocation): boolean =>
  (said.repository === undefined || isSame(repository, said.repository)) &&
  (said.organization === undefined || isSame(organization, said.organization)) &&
  (said.project === undefined || isSame(project, said.project));

/**
 * Where the work items of a project are. Throws `invalid_request` for a project without a tracker.
 * @param asked the platform that the request names: that of the project's tracker, or of its repository.
 */
export function trackerTarget(project: ProjectWithWorkItems, asked?: TrackerPlatform): TrackerTarget {
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
