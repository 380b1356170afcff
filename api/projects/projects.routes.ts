import { z } from 'zod';
import { mergePatch } from '../../domain/shared/merge-rules.ts';
import { requestFetch } from '../../domain/git/mirror.queries.ts';
import { Project as ProjectEntity } from '../../domain/projects/projects.entities.ts';
import { countProjects, findProject, projectInPath } from '../../domain/projects/projects.queries.ts';
import { DomainError, versionConflict } from '../../domain/shared/errors.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { emitEvent } from '../../domain/webhooks/emit.queries.ts';
import { wakeMirror } from '../../workflows/git/git-mirror.contract.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { NoContent, queryInt, RepositoryIdentifier } from '../http/parameters.ts';
import { pageReply } from '../http/replies.ts';
import { Project, ProjectIn, ProjectPatch } from './projects.schemas.ts';

const GROUP = 'Projects';
const params = z.object({ identifier: RepositoryIdentifier });

/** What of a project stands in the audit trail and in events. */
const stateOf = ({ id, identifier, remoteUrl, platform, defaultBranch, configuration }: ProjectEntity) => ({
  id,
  identifier,
  remoteUrl,
  platform,
  defaultBranch,
  configuration,
});

const mirrorOf = ({ tenantId, id: projectId, identifier: repositoryIdentifier }: ProjectEntity) => ({
  tenantId,
  projectId,
  repositoryIdentifier,
});

const audit = (
  tx: Tx,
  action: string,
  { id, identifier }: ProjectEntity,
  change: { before?: unknown; after?: unknown },
) =>
  tx.audit({
    source: 'project',
    action,
    entityType: 'project',
    entityId: id,
    repositoryIdentifier: identifier,
    summary: `Project ${identifier} ${action.split('.')[1]}`,
    ...change,
  });

const announce = (tx: Tx, event: 'project.created' | 'project.updated' | 'project.deleted', project: ProjectEntity) =>
  emitEvent(tx, event, {
    id: project.id,
    repositoryIdentifier: project.identifier,
    platform: project.platform,
    defaultBranch: project.defaultBranch,
  });

export const projectsRoutes = [
  defineRoute({
    operationId: 'createProject',
    method: 'post',
    path: '/api/projects',
    group: GROUP,
    summary: 'Register a repository as a project',
    roles: ['owner'],
    body: ProjectIn,
    status: 201,
    response: Project,
    errors: ['already_exists'],
    audit: 'project.created',
    async handle({ body }, { tx, adapters: { launch } }) {
      const made = await tx(async (work) => {
        if (await findProject(work, body.identifier)) {
          throw new DomainError('already_exists', `The repository ${body.identifier} is already registered`);
        }
        const project = work.em.create(ProjectEntity, {
          ...body,
          tenantId: work.tenantId,
          remoteUrl: body.remoteUrl ?? null,
          configuration: body.configuration as ProjectEntity['configuration'],
        });
        await work.em.flush();
        audit(work, 'project.created', project, { after: stateOf(project) });
        announce(work, 'project.created', project);
        if (project.remoteUrl !== null) await requestFetch(work, project.id);
        return project;
      });
      if (made.remoteUrl !== null) wakeMirror(launch, mirrorOf(made));
      return made;
    },
  }),
  defineRoute({
    operationId: 'listProjects',
    method: 'get',
    path: '/api/projects',
    group: GROUP,
    summary: 'The projects of the tenant, by identifier',
    description: 'A scoped application token sees its projects alone.',
    roles: ANY_ROLE,
    query: z.strictObject({ limit: queryInt(1, 200, 50), offset: queryInt(0, 1_000_000, 0) }),
    status: 200,
    response: z.object({ items: z.array(Project), total: z.int(), limit: z.int(), offset: z.int() }),
    handle: ({ query: { limit, offset } }, { tx, requestUrl }) =>
      tx(async (work) => {
        const items = await work.em.find(
          ProjectEntity,
          { tenantId: work.tenantId },
          { orderBy: { identifier: 'asc' }, limit, offset },
        );
        const page = { limit, offset, total: await countProjects(work) };
        return pageReply(requestUrl, page, { items, ...page });
      }),
  }),
  defineRoute({
    operationId: 'getProject',
    method: 'get',
    path: '/api/projects/{identifier}',
    group: GROUP,
    summary: 'One project',
    roles: ANY_ROLE,
    params,
    status: 200,
    response: Project,
    handle: ({ params: { identifier } }, { tx }) => tx((work) => projectInPath(work, identifier)),
  }),
  defineRoute({
    operationId: 'updateProject',
    method: 'patch',
    path: '/api/projects/{identifier}',
    group: GROUP,
    summary: 'Change a project; its configuration is merged',
    roles: ['owner'],
    params,
    body: ProjectPatch,
    status: 200,
    response: Project,
    errors: ['version_conflict'],
    audit: 'project.updated',
    async handle(
      { params: { identifier }, body: { version, configuration, ...fields } },
      { tx, adapters: { launch } },
    ) {
      const changed = await tx(async (work) => {
        const project = await projectInPath(work, identifier, { isLocked: true });
        if (version !== undefined && version !== project.version) throw versionConflict('The project', project.version);
        const before = stateOf(project);
        work.em.assign(project, fields as Partial<ProjectEntity>);
        if (configuration) project.configuration = mergePatch(project.configuration, configuration);
        await work.em.flush();
        audit(work, 'project.updated', project, { before, after: stateOf(project) });
        announce(work, 'project.updated', project);
        if (project.remoteUrl !== null) await requestFetch(work, project.id);
        return project;
      });
      if (changed.remoteUrl !== null) wakeMirror(launch, mirrorOf(changed));
      return changed;
    },
  }),
  defineRoute({
    operationId: 'deleteProject',
    method: 'delete',
    path: '/api/projects/{identifier}',
    group: GROUP,
    summary: 'Remove a project with its environments and release candidates',
    description: 'The audit trail and the logs of deliveries stay.',
    roles: ['owner'],
    params,
    status: 204,
    response: NoContent,
    audit: 'project.deleted',
    async handle({ params: { identifier } }, { tx }) {
      await tx(async (work) => {
        const project = await projectInPath(work, identifier, { isLocked: true });
        announce(work, 'project.deleted', project);
        await work.em.remove(project).flush();
        audit(work, 'project.deleted', project, { before: stateOf(project) });
      });
    },
  }),
];
