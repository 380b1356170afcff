import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ProjectFacts, projectInPath } from '../../../domain/projects/projects/projects.queries.ts';
import { rollingAnalysis } from '../../../domain/delivery/releases/changelogs/rolling-analysis.ts';
import { ANALYSED_MAX, analysisDigest } from '../../../domain/delivery/releases/changelogs/rolling-analysis.queries.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { queryFlag, RepositoryIdentifier } from '../../http/parameters.ts';
import { JsonText, reply } from '../../http/replies.ts';
import { Branch, Domain } from './release-candidates.schemas.ts';
import { RollingAnalysis } from './rolling-analysis.schemas.ts';

export const rollingAnalysisRoutes = [
  defineRoute({
    operationId: 'getRollingAnalysis',
    method: 'get',
    path: '/api/release-candidates/rolling-analysis/{repository}/{domain}',
    group: 'Release candidates',
    summary: 'Compare the candidates of a domain with each other and with the deployed baseline',
    description: [
      `Each branch has a baseline of its own: its newest candidate that has been deployed to all release environments of the branch, otherwise its oldest. Candidates are compared with the previous one of their branch and with its baseline. Covers the newest ${ANALYSED_MAX} candidates, without aborted ones.`,
      'The result is cached until its input changes, at most for ROLLING_ANALYSIS_CACHE_TTL_SECONDS. `X-Cache` is HIT or MISS; `X-Cache-Key` identifies the input.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    params: z.object({ repository: RepositoryIdentifier, domain: Domain }),
    query: z.strictObject({
      branch: Branch.optional().meta({ description: 'Only candidates of this branch; default: all branches' }),
      includePackageChangelogs: queryFlag(false),
      bypassCache: queryFlag(false),
    }),
    status: 200,
    response: RollingAnalysis,
    async handle(
      { params: { repository, domain }, query: { branch, includePackageChangelogs, bypassCache } },
      {
        tx,
        reads,
        adapters: {
          git: { commitGraphs },
          releases: { analyses, deploymentLogs },
        },
      },
    ) {
      const keyOf = async (work: Tx, { id: projectId, defaultBranch }: ProjectFacts) => {
        const digest = await analysisDigest(work, { projectId, domain, branch, defaultBranch });
        const parts = [work.tenantId, projectId, domain, branch ?? null, includePackageChangelogs, digest];
        return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
      };
      const answer = (text: string, key: string, cache: 'HIT' | 'MISS') =>
        reply(new JsonText(text, { isRepeated: true }), { headers: { 'X-Cache': cache, 'X-Cache-Key': key } });
      const { project, key } = await tx(async (work) => {
        const found = await projectInPath(work, repository);
        return { project: found, key: await keyOf(work, found) };
      });
      const kept = bypassCache ? undefined : analyses.get(key);
      if (kept !== undefined) return answer(kept, key, 'HIT');
      return reads.asSlow(() =>
        tx(async (work) => {
          const analysedKey = await keyOf(work, project);
          const history = await commitGraphs(work, project.id);
          const log = await deploymentLogs(work, project.id);
          const analysis = await rollingAnalysis(work, history, log, project, {
            domain,
            branch,
            includePackageChangelogs,
          });
          const text = JSON.stringify(RollingAnalysis.parse(analysis));
          analyses.put(analysedKey, text);
          return answer(text, analysedKey, 'MISS');
        }),
      );
    },
  }),
];
