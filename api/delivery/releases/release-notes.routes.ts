import { z } from 'zod';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { htmlNotes, markdownNotes } from '../../../domain/delivery/releases/changelogs/notes-format-rules.ts';
import { releaseNotes } from '../../../domain/delivery/releases/changelogs/release-notes.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { Name, RepositoryIdentifier } from '../../http/parameters.ts';
import { RawReply } from '../../http/replies.ts';
import { Bases, changesOfPackages, Commit, RepositoryFreshness } from '../changelogs.ts';

const ReleaseNotes = z
  .object({
    repositoryIdentifier: z.string(),
    releaseName: z.string(),
    domains: z.array(
      z.object({
        domain: z.string(),
        previousReleaseName: z
          .string()
          .nullable()
          .meta({ description: 'The release it is compared with; null: this is the first' }),
        bases: Bases,
        deployments: z.array(z.object({ environment: z.string(), deployedAt: z.string(), isRolledBack: z.boolean() })),
        ...changesOfPackages(
          z.array(
            Commit.pick({
              sha: true,
              message: true,
              authorName: true,
              committedAt: true,
              workItems: true,
              pullRequests: true,
            }),
          ),
        ),
      }),
    ),
    repository: RepositoryFreshness,
  })
  .meta({ id: 'ReleaseNotes' });

export const releaseNotesRoutes = [
  defineRoute({
    operationId: 'getReleaseNotes',
    method: 'get',
    path: '/api/releases/{name}/notes',
    group: 'Releases',
    summary: 'Get release notes as JSON, Markdown or HTML',
    description: [
      'Covers every domain that has a release of this name, and of each the environment `environmentName`, or all environments to which the release was deployed. The release is compared with what the environment ran before it (rollbacks and repeated deployments taken into account), or with `fromReleaseName`. Environments in which the same is new share an entry of `domains`; `bases` names them and the release with which they are compared.',
      'A release that was not deployed to `environmentName` is compared with what runs there. One that was deployed nowhere is compared with what runs in the active release environments whose branch pattern matches (without any, in other active environments that match).',
      'Lists the packages, commits and work items of the changelog.',
      '`format=md` returns `text/markdown` (CommonMark), `format=html` a page of `text/html`. Text from commits is escaped.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    params: z.object({ name: Name }),
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier,
      domain: Name.optional(),
      environmentName: Name.optional(),
      fromReleaseName: Name.optional(),
      format: z.enum(['json', 'md', 'html']).default('json'),
    }),
    status: 200,
    response: ReleaseNotes,
    contentTypes: ['application/json', 'text/markdown', 'text/html'],
    handle: (
      { params: { name }, query: { repositoryIdentifier, domain, environmentName, fromReleaseName, format } },
      {
        tx,
        adapters: {
          git: { commitGraphs },
          releases: { deploymentLogs },
        },
      },
    ) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const history = await commitGraphs(work, project.id);
        const notes = await releaseNotes(work, history, await deploymentLogs(work, project.id), project, {
          releaseName: name,
          domain,
          environmentName,
          fromReleaseName,
        });
        if (format === 'md') return new RawReply('text/markdown; charset=utf-8', markdownNotes(notes));
        if (format === 'html') return new RawReply('text/html; charset=utf-8', htmlNotes(notes));
        return notes;
      }),
  }),
];
