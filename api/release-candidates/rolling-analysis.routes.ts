import { createHash } from 'node:crypto';
import { z } from 'zod';
import { projectInPath } from '../../domain/projects/projects.queries.ts';
import { rollingAnalysis } from '../../domain/releases/rolling-analysis.ts';
import { ANALYSED_MAX, analysisDigest } from '../../domain/releases/rolling-analysis.queries.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { queryFlag, RepositoryIdentifier } from '../http/parameters.ts';
import { RawReply } from '../http/replies.ts';
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
      `The baseline is the newest candidate that has been deployed to all release environments of its branch, otherwise the oldest candidate. Covers the newest ${ANALYSED_MAX} candidates, without aborted ones.`,
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
    handle: (
      { params: { repository, domain }, query: { branch, includePackageChangelogs, bypassCache } },
      {
        tx,
        adapters: {
          git: { commitGraphs },
          releases: { analyses },
        },
      },
    ) =>
      tx(async (work) => {
        const project = await projectInPath(work, repository);
        const digest = await analysisDigest(work, {
          projectId: project.id,
          domain,
          branch,
          defaultBranch: project.defaultBranch,
        });
        const parts = [work.tenantId, project.id, domain, branch ?? null, includePackageChangelogs, digest];
        const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
        const answer = (text: string, cache: 'HIT' | 'MISS') =>
          new RawReply('application/json', text, { 'X-Cache': cache, 'X-Cache-Key': key });
        const kept = bypassCache ? undefined : analyses.get(key);
        if (kept !== undefined) return answer(kept, 'HIT');
        const history = await commitGraphs(work, project.id);
        const analysis = await rollingAnalysis(work, history, project, { domain, branch, includePackageChangelogs });
        const text = JSON.stringify(RollingAnalysis.parse(analysis));
        analyses.put(key, text);
        return answer(text, 'MISS');
      }),
  }),
];
