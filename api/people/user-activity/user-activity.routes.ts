import { userActivity } from '../../../domain/people/user-activity/activity.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { JsonText } from '../../http/replies.ts';
import { activityJson } from './activity-json.ts';
import { ActivityQuery, UserActivity } from './user-activity.schemas.ts';

export const userActivityRoutes = [
  defineRoute({
    operationId: 'getUserActivity',
    method: 'get',
    path: '/api/users/me/activity',
    group: 'Users',
    summary: "Show the caller's pull requests and review environments",
    description: [
      'What is shown was told by the hooks of the git hosts (`POST /api/hooks/{host}`) and read from their lists: every 15 minutes where a pull request changed in the last 14 days, else every 6 hours, as far as there is an integration for the host. No host is asked for a reply. Files and distances from the base branch are those of the mirror, of forks those of the host.',
      'The caller is found by the accounts at git hosts that are linked to the user; `githubUsername`, `adoUsername` and `gitlabUsername` name others instead, and are not stored. Links to orgs lead through the front door of this service: no reply has a credential. A repository that is not registered gets 400.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ActivityQuery,
    status: 200,
    response: UserActivity,
    async handle(
      { query: { repositoryIdentifier, githubUsername, adoUsername, gitlabUsername } },
      { actor, reads, now, publicUrl },
    ) {
      const generatedAt = now();
      const overrides = { 'host-a': githubUsername, 'host-b': adoUsername, 'host-c': gitlabUsername };
      const question = { repositoryIdentifiers: repositoryIdentifier, overrides };
      const shown = await userActivity(reads, actor, question, generatedAt);
      return new JsonText(activityJson(shown, { email: actor.email, publicUrl, generatedAt }));
    },
  }),
];
