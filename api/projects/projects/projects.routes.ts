import { z } from 'zod';
import { registerProject, removeProject, updateProject } from '../../../domain/projects/projects/projects.mutations.ts';
import { listProjects, projectInPath } from '../../../domain/projects/projects/projects.queries.ts';
import { projectWarnings } from '../../../domain/projects/projects/project-warnings.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byIdentifier, NoContent, queryInt } from '../../http/parameters.ts';
import { pageReply } from '../../http/replies.ts';
import { Project, ProjectIn, ProjectPatch, ProjectWithWarnings } from './projects.schemas.ts';

const GROUP = 'Projects';

export const projectsRoutes = [
  defineRoute({
    operationId: 'createProject',
    method: 'post',
    path: '/api/projects',
    group: GROUP,
    summary: 'Register a repository as a project',
    roles: ['owner'],
    projectScope: 'refused',
    body: ProjectIn,
    status: 201,
    response: ProjectWithWarnings,
    errors: ['already_exists'],
    audit: 'project.created',
    async handle({ body }, { tx, actor, adapters: { git } }) {
      return tx(async (work) => {
        const project = await registerProject(work, git.remotes, body);
        return { ...project, warnings: await projectWarnings(work, actor, project, { isRemoteNew: true }) };
      });
    },
  }),
  defineRoute({
    operationId: 'listProjects',
    method: 'get',
    path: '/api/projects',
    group: GROUP,
    summary: 'List projects, ordered by identifier',
    description: 'An application token that is limited to projects only sees those.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ limit: queryInt(1, 200, 50), offset: queryInt(0, 1_000_000, 0) }),
    status: 200,
    response: z.object({ items: z.array(Project), total: z.int(), limit: z.int(), offset: z.int() }),
    async handle({ query: { limit, offset } }, { tx, requestUrl }) {
      const { items, total } = await tx((work) => listProjects(work, { limit, offset }));
      const page = { limit, offset, total };
      return pageReply(requestUrl, page, { items, ...page });
    },
  }),
  defineRoute({
    operationId: 'getProject',
    method: 'get',
    path: '/api/projects/{identifier}',
    group: GROUP,
    summary: 'Get a project',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byIdentifier,
    status: 200,
    response: ProjectWithWarnings,
    handle: ({ params: { identifier } }, { tx, actor }) =>
      tx(async (work) => {
        const project = await projectInPath(work, identifier);
        return { ...project, warnings: await projectWarnings(work, actor, project) };
      }),
  }),
  defineRoute({
    operationId: 'updateProject',
    method: 'patch',
    path: '/api/projects/{identifier}',
    group: GROUP,
    summary: 'Update a project',
    roles: ['owner'],
    projectScope: 'row',
    params: byIdentifier,
    body: ProjectPatch,
    status: 200,
    response: ProjectWithWarnings,
    errors: ['version_conflict'],
    audit: 'project.updated',
    async handle({ params: { identifier }, body }, { tx, actor, adapters: { git } }) {
      const isRemoteNew = body.remoteUrl !== undefined;
      return tx(async (work) => {
        const project = await updateProject(work, git.remotes, identifier, body);
        return { ...project, warnings: await projectWarnings(work, actor, project, { isRemoteNew }) };
      });
    },
  }),
  defineRoute({
    operationId: 'deleteProject',
    method: 'delete',
    path: '/api/projects/{identifier}',
    group: GROUP,
    summary: 'Delete a project with its environments and release candidates',
    description:
      'Audit entries and webhook deliveries are kept. Runs that have not ended are cancelled. Browser sessions are ended and their recordings removed first: 409 `in_progress` until that is done, then the same request deletes the project.',
    roles: ['owner'],
    projectScope: 'row',
    params: byIdentifier,
    status: 204,
    response: NoContent,
    errors: ['in_progress'],
    audit: 'project.deleted',
    async handle({ params: { identifier } }, { tx }) {
      if (await tx((work) => removeProject(work, identifier))) return;
      throw new DomainError(
        'in_progress',
        'The browser sessions of the project are being ended, and their recordings removed; ask again when that is done',
      );
    },
  }),
];
