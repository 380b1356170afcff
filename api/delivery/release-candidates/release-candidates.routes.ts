import { z } from 'zod';
import { fetchUnknownCommits } from '../../../domain/code/git/mirror/commit-fetches.mutations.ts';
import { unknownDomain } from '../../../domain/projects/projects/project-rules.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import {
  candidateBranches,
  candidateDomains,
  candidatesOfCommit,
  latestCandidate,
} from '../../../domain/delivery/release-candidates/candidate-list.queries.ts';
import { holdsOf } from '../../../domain/delivery/release-candidates/holds/holds.queries.ts';
import {
  removeCandidate,
  removeCandidatesOfBranch,
  saveCandidate,
} from '../../../domain/delivery/release-candidates/release-candidates.mutations.ts';
import {
  candidateById,
  candidateByName,
} from '../../../domain/delivery/release-candidates/release-candidates.queries.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { signalMirrorLater } from '../../../workflows/code/git/git-mirror.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent, RepositoryIdentifier } from '../../http/parameters.ts';
import { detailed, view } from './candidate-view.ts';
import {
  Branch,
  CandidateIn,
  CandidateName,
  CandidateWithWarnings,
  CommitSha,
  Domain,
  ReleaseCandidate,
} from './release-candidates.schemas.ts';

const GROUP = 'Release candidates';
const ofRepository = z.strictObject({ repositoryIdentifier: RepositoryIdentifier });

export const releaseCandidatesRoutes = [
  defineRoute({
    operationId: 'saveReleaseCandidate',
    method: 'post',
    path: '/api/release-candidates',
    group: GROUP,
    summary: 'Create or update a release candidate',
    description:
      'A candidate is identified by repository, domain and release name. If the project lists domains, the domain must be one of them. An outdated `version` gets 409; so does an update of a finalized or aborted candidate, whose content is locked. A candidate with another commit or other artifacts than before is `pending` again, and its deployments stop counting for it; they count again when that content is posted back. Abbreviated commit ids are resolved where the repository knows them. A commit that is not known yet causes a fetch of the repository.',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: CandidateIn,
    status: 201,
    response: CandidateWithWarnings,
    errors: ['version_conflict', 'locked', 'invalid_transition'],
    audit: [
      'release_candidate.created',
      'release_candidate.updated',
      'release_candidate.status_changed',
      'release_candidate.aborted',
    ],
    async handle({ body }, { tx, adapters: { launch } }) {
      const { reply, toFetch } = await tx(async (work) => {
        const found = await saveCandidate(work, body);
        return {
          reply: await detailed(work, found, work.now),
          toFetch: await fetchUnknownCommits(work, found.project, [found.candidate.commitSha]),
        };
      });
      if (toFetch) signalMirrorLater(launch, toFetch);
      return reply;
    },
  }),
  defineRoute({
    operationId: 'listReleaseCandidateBranches',
    method: 'get',
    path: '/api/release-candidates/branches',
    group: GROUP,
    summary: 'List the branches that have release candidates',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ofRepository,
    status: 200,
    response: z.array(z.string()),
    handle: async ({ query: { repositoryIdentifier } }, { reads }) =>
      candidateBranches(reads, await projectInRequest(reads, repositoryIdentifier)),
  }),
  defineRoute({
    operationId: 'listReleaseCandidateDomains',
    method: 'get',
    path: '/api/release-candidates/domains',
    group: GROUP,
    summary: 'List the domains of a project',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ofRepository,
    status: 200,
    response: z.array(z.string()),
    handle: async ({ query: { repositoryIdentifier } }, { reads }) =>
      candidateDomains(reads, await projectInRequest(reads, repositoryIdentifier)),
  }),
  defineRoute({
    operationId: 'getLatestReleaseCandidate',
    method: 'get',
    path: '/api/release-candidates/latest',
    group: GROUP,
    summary: 'Get the newest release candidate of a domain, in any status',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ repositoryIdentifier: RepositoryIdentifier, domain: Domain, branch: Branch.optional() }),
    status: 200,
    response: CandidateWithWarnings,
    async handle({ query: { repositoryIdentifier, domain, branch } }, { reads, now }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      const candidate = await latestCandidate(reads, project, domain, branch);
      if (!candidate)
        throw unknownDomain(project.configuration, domain) ?? notFound(`A release candidate of domain ${domain}`);
      return detailed(reads, { candidate, project }, now());
    },
  }),
  defineRoute({
    operationId: 'getReleaseCandidatesByCommit',
    method: 'get',
    path: '/api/release-candidates/by-commit/{commitSha}',
    group: GROUP,
    summary: 'Get the release candidates of a commit, grouped by domain',
    description:
      'A commit id can be abbreviated to 7 or more digits and then matches all commits that start with it. At most 200 candidates.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: z.object({ commitSha: CommitSha }),
    query: ofRepository,
    status: 200,
    response: z
      .record(z.string(), z.array(ReleaseCandidate))
      .meta({ description: 'Maps domains to candidates, newest first' }),
    async handle({ params: { commitSha }, query: { repositoryIdentifier } }, { reads, now }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      const candidates = await candidatesOfCommit(reads, project.id, commitSha);
      const holds = await holdsOf(reads, candidates, now());
      const byDomain = Map.groupBy(candidates, ({ domain }) => domain);
      return Object.fromEntries(
        [...byDomain].map(([domain, group]) => [
          domain,
          group.map((candidate) => view({ candidate, project }, holds(candidate))),
        ]),
      );
    },
  }),
  defineRoute({
    operationId: 'findReleaseCandidate',
    method: 'post',
    path: '/api/release-candidates/find',
    group: GROUP,
    summary: 'Find a release candidate by name',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: CandidateName,
    status: 200,
    response: CandidateWithWarnings,
    audit: { none: 'reads' },
    async handle({ body: { repositoryIdentifier, ...name } }, { reads, now }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      return detailed(reads, await candidateByName(reads, project, name), now());
    },
  }),
  defineRoute({
    operationId: 'getReleaseCandidate',
    method: 'get',
    path: '/api/release-candidates/{id}',
    group: GROUP,
    summary: 'Get a release candidate',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: CandidateWithWarnings,
    handle: async ({ params: { id } }, { reads, now }) => detailed(reads, await candidateById(reads, id), now()),
  }),
  defineRoute({
    operationId: 'deleteReleaseCandidate',
    method: 'delete',
    path: '/api/release-candidates/{id}',
    group: GROUP,
    summary: 'Delete a release candidate; its deployment records are kept',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'release_candidate.deleted',
    handle: ({ params: { id } }, { tx }) => tx((work) => removeCandidate(work, id)),
  }),
  defineRoute({
    operationId: 'deleteReleaseCandidatesByBranch',
    method: 'delete',
    path: '/api/release-candidates/by-branch/{branchName}',
    group: GROUP,
    summary: 'Delete the release candidates of a branch',
    description:
      'Refused for protected branches: the default branch and the branches and cascades in the configuration of the project.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: z.object({ branchName: Branch }),
    query: ofRepository,
    status: 200,
    response: z.object({
      branch: z.string(),
      deletedCandidates: z.array(z.object({ id: z.string(), releaseName: z.string(), domain: z.string() })),
      deletedCount: z.int(),
    }),
    errors: ['protected_branch'],
    audit: 'release_candidate.deleted',
    async handle({ params: { branchName: branch }, query: { repositoryIdentifier } }, { tx }) {
      const deleted = await tx((work) => removeCandidatesOfBranch(work, repositoryIdentifier, branch));
      const deletedCandidates = deleted.map(({ id, releaseName, domain }) => ({ id, releaseName, domain }));
      return { branch, deletedCandidates, deletedCount: deleted.length };
    },
  }),
];
