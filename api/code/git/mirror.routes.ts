import { z } from 'zod';
import { dependencyCycles } from '../../../domain/code/git/install-order-rules.ts';
import { mirrorReport, requestFetch } from '../../../domain/code/git/mirror/mirror.queries.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { projectInPath } from '../../../domain/projects/projects/projects.queries.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { signalMirror } from '../../../workflows/code/git/git-mirror.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byIdentifier, Timestamp } from '../../http/parameters.ts';

const GROUP = 'Projects';

const Mirror = z
  .object({
    fetchedAt: Timestamp.nullable().meta({ description: 'When the remote was last fetched successfully' }),
    isStale: z.boolean().meta({
      description: 'The repository has never been fetched or the last fetch failed; the data are as of `fetchedAt`',
    }),
    error: z.string().nullable(),
    requestedAt: Timestamp.nullable(),
    attemptedAt: Timestamp.nullable(),
    nextFetchAt: Timestamp.nullable(),
    failures: z.int().meta({ description: 'Number of consecutive failed fetches' }),
    commits: z.int(),
    branches: z.int(),
    tags: z.int(),
    packages: z.array(
      z.object({
        name: z.string(),
        path: z.string(),
        versionNumber: z.string().nullable(),
        dependencies: z.array(z.string()),
      }),
    ),
    dependencyCycles: z
      .array(z.array(z.string()))
      .meta({ description: 'Packages that depend on each other, so that nothing orders them' }),
    packagesFrom: z.enum(['manifest', 'setting', 'none']),
  })
  .meta({ id: 'GitMirror' });

const NEVER: z.input<typeof Mirror> = {
  fetchedAt: null,
  isStale: true,
  error: null,
  requestedAt: null,
  attemptedAt: null,
  nextFetchAt: null,
  failures: 0,
  commits: 0,
  branches: 0,
  tags: 0,
  packages: [],
  dependencyCycles: [],
  packagesFrom: 'none',
};

function viewOf(report: Awaited<ReturnType<typeof mirrorReport>>): z.input<typeof Mirror> {
  if (!report) return NEVER;
  const dependencies = new Map(report.packages.map((each) => [each.name, each.dependencies]));
  return { ...report, dependencyCycles: dependencyCycles(dependencies) };
}

export const mirrorRoutes = [
  defineRoute({
    operationId: 'getProjectMirror',
    method: 'get',
    path: '/api/projects/{identifier}/mirror',
    group: GROUP,
    summary: "Get the state of the mirror of a project's repository",
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byIdentifier,
    status: 200,
    response: Mirror,
    handle: ({ params: { identifier } }, { tx }) =>
      tx(async (work) => {
        const project = await projectInPath(work, identifier);
        return viewOf(await mirrorReport(work, project.id));
      }),
  }),
  defineRoute({
    operationId: 'fetchProjectMirror',
    method: 'post',
    path: '/api/projects/{identifier}/mirror/fetch',
    group: GROUP,
    summary: "Request a fetch of a project's repository",
    description:
      'Repositories are also fetched on push hooks and on a schedule. The fetch has completed when `fetchedAt` is later than the `requestedAt` of this reply.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byIdentifier,
    status: 202,
    response: Mirror,
    audit: { none: 'only refreshes the copy of the remote' },
    async handle({ params: { identifier } }, { tx, actor, adapters: { launch } }) {
      const { project, report } = await tx(async (work) => {
        const found = await projectInPath(work, identifier);
        if (found.remoteUrl === null) throw new DomainError('invalid_request', 'The project has no remoteUrl');
        await requestFetch(work, found.id);
        return { project: found, report: await mirrorReport(work, found.id) };
      });
      signalMirror(launch, { ...tenantOf(actor), projectId: project.id, repositoryIdentifier: identifier });
      return viewOf(report);
    },
  }),
];
