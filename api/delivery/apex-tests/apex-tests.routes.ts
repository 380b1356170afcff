import { Readable } from 'node:stream';
import { z } from 'zod';
import { percentCovered } from '../../../domain/delivery/apex-tests/apex-test-rules.ts';
import {
  countResults,
  coverageOfRun,
  resultsOfRun,
  totalCoverage,
} from '../../../domain/delivery/apex-tests/apex-tests.queries.ts';
import { findTestRun, methodKey, testHistory } from '../../../domain/delivery/apex-tests/test-history.queries.ts';
import { JUNIT_END, junitCase, junitHead } from '../../../domain/delivery/apex-tests/junit-rules.ts';
import { runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { adviceFor } from '../../../domain/delivery/org-deployments/platform-advice-rules.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { pageReply, RawReply } from '../../http/replies.ts';
import { Coverage, CoverageQuery, TestResults, TestsQuery } from './apex-tests.schemas.ts';

const GROUP = 'Flows';
const XML_TYPE = 'application/xml';
const CASES_AT_ONCE = 1_000;

export const apexTestsRoutes = [
  defineRoute({
    operationId: 'listFlowRunTests',
    method: 'get',
    path: '/api/flows/runs/{id}/tests',
    group: GROUP,
    summary: 'List what Apex tests of a run said, those that failed first',
    description:
      'A run of `run-apex-tests` has them after the tests have ended, up to 20,000 methods; the list of another run is empty.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query: TestsQuery,
    status: 200,
    response: TestResults,
    async handle({ params: { id }, query: { outcome: group, limit, offset } }, { reads, requestUrl }) {
      await runById(reads, id);
      const [{ total, ...counts }, results] = [
        await countResults(reads, id, group),
        await resultsOfRun(reads, id, { group, limit, offset }),
      ];
      const testRun = await findTestRun(reads, id);
      const history = testRun && (await testHistory(reads, testRun, results));
      const items = results.map((result) => ({
        ...result,
        history: history?.get(methodKey(result)) ?? null,
        advice: result.message === null ? null : adviceFor(result.message),
      }));
      const page = { limit, offset, total };
      return pageReply(requestUrl, page, { items, ...counts, ...page });
    },
  }),
  defineRoute({
    operationId: 'getFlowRunTestReport',
    method: 'get',
    path: '/api/flows/runs/{id}/tests.xml',
    group: GROUP,
    summary: 'Get what Apex tests of a run said as JUnit XML',
    description: 'In the form that pipelines read. 404 for a run without results.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: z.string(),
    contentTypes: [XML_TYPE],
    async handle({ params: { id } }, { reads }) {
      const { startedAt } = await runById(reads, id);
      const counts = await countResults(reads, id);
      if (counts.total === 0) throw notFound('The results of tests');
      const head = junitHead(counts, startedAt === null ? '' : isoOf(startedAt));
      return new RawReply(
        XML_TYPE,
        Readable.from(report(reads.with({ pace: 'varies', isContinued: true }), id, head), { objectMode: false }),
        {
          'Content-Disposition': `attachment; filename="tests-${id}.xml"`,
        },
      );
    },
  }),
  defineRoute({
    operationId: 'listFlowRunCoverage',
    method: 'get',
    path: '/api/flows/runs/{id}/coverage',
    group: GROUP,
    summary: 'List which lines of Apex the tests of an org cover, by class, at the end of a run',
    description:
      'As the org counts all its tests, not only those of the run; classes that changed first, and of these those with the most uncovered lines. Changed lines are known of classes whose source in the org is that of the commit.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query: CoverageQuery,
    status: 200,
    response: Coverage,
    async handle({ params: { id }, query: { limit, offset } }, { reads, requestUrl }) {
      await runById(reads, id);
      const { classes: total, ...sums } = await totalCoverage(reads, id);
      const testRun = await findTestRun(reads, id);
      const rows = await coverageOfRun(reads, id, { limit, offset });
      const items = rows.map(({ changedLines, changedCovered, ...row }) => ({
        ...row,
        percent: percentCovered(row),
        changedLines: changedLines === null ? null : changedOf({ changedLines, changedCovered: changedCovered ?? 0 }),
      }));
      const page = { limit, offset, total };
      const { lines, uncovered, changedUnknown } = sums;
      const { commitSha = null, whyUnknown = null } = testRun ?? {};
      const isCompared = total > 0 && commitSha !== null && whyUnknown === null;
      const changed = isCompared ? { ...changedOf(sums), ...(changedUnknown > 0 && { percent: null }) } : null;
      const percent = percentCovered({ lines, uncovered });
      const sum = { lines, uncovered, percent, changedLines: changed, changedUnknown, whyUnknown };
      return pageReply(requestUrl, page, { items, ...sum, ...page });
    },
  }),
];

const changedOf = ({
  changedLines: total,
  changedCovered: covered,
}: {
  changedLines: number;
  changedCovered: number;
}) => ({
  covered,
  total,
  percent: percentCovered({ lines: total, uncovered: total - covered }),
});

async function* report(reads: Reads, id: string, head: string): AsyncGenerator<string> {
  yield head;
  for (let offset = 0; ; offset += CASES_AT_ONCE) {
    const results = await resultsOfRun(reads, id, { limit: CASES_AT_ONCE, offset });
    yield results.map(junitCase).join('');
    if (results.length < CASES_AT_ONCE) break;
  }
  yield JUNIT_END;
}
