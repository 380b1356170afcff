import { z } from 'zod';
import {
  branch,
  commitSha,
  defineEvent,
  defineEvents,
  id,
  dateTime,
  number,
  repositoryIdentifier,
  text,
  texts,
} from './event-definition.ts';

const Build = z.strictObject({
  id: id('Build').optional(),
  repositoryIdentifier,
  branch,
  commitSha,
  domains: texts('Domains that are built', ['sales', 'service']).optional(),
  status: text('running, completed or failed', 'completed'),
  buildUrl: text('Page of the build', 'https://ci.example.com/builds/991').nullable().optional(),
  buildNumber: text('Number of the build', '991').nullable().optional(),
  error: text('What went wrong', 'package sales-ui did not build').nullable().optional(),
  startedAt: dateTime('When it began').nullable().optional(),
  endedAt: dateTime('When it ended').nullable().optional(),
});

export const analysisEvents = {
  ...defineEvents(Build, {
    'build.started': 'A build began',
    'build.completed': 'A build succeeded',
    'build.failed': 'A build failed',
  }),
  'code_analysis.completed': defineEvent(
    'Results of a code analysis were published',
    z.strictObject({
      id: id('Result'),
      repositoryIdentifier,
      branch,
      commitSha,
      totalIssues: number('Issues found', 12),
      errors: number('Issues of level error', 1),
      warnings: number('Issues of level warning', 4),
      newIssues: number('Issues that the run before it did not have', 2),
      fixedIssues: number('Issues that only the run before it had', 3),
      isComplete: z.boolean().meta({
        description:
          'The numbers count all issues; not so when a tool found more than are kept, in this run or the one before',
        example: true,
      }),
      incompleteReason: text('How many issues were found and kept', 'Not all issues are known').nullable(),
      gate: z
        .strictObject({ status: z.enum(['passed', 'failed', 'none', 'unknown']), reasons: z.array(z.string()) })
        .meta({
          description:
            "Whether the project's quality gate is kept, and a sentence for each limit that is not; unknown: too few issues are kept to tell",
          example: { status: 'failed', reasons: ['1 errors, at most 0 allowed'] },
        }),
      analyzedAt: dateTime('When it was analysed'),
    }),
  ),
  'metrics_series.limited': defineEvent(
    'Metrics of new series were refused, because the tenant had as many on that day as are allowed; once a day',
    z.strictObject({
      day: text('Day of UTC', '2026-03-02'),
      limit: number('New series that are allowed in a day', 50_000),
    }),
  ),
  'ai_budget.warning': defineEvent(
    'Most of the budget of a month for calls of language models is used; once per month and integration',
    z.strictObject({
      integrationId: id('Integration'),
      name: text('Name of the integration', 'Model of the team'),
      repositoryIdentifier: repositoryIdentifier.nullable(),
      month: text('Month of UTC', '2026-03'),
      budget: number('Budget of the month, in USD', 50),
      spent: number('What was spent of it, in USD', 40.12),
      percent: number('Part of the budget from which on it is announced', 80),
    }),
  ),
  'code_analysis.failed': defineEvent(
    'An analysis of code failed',
    z.strictObject({
      jobId: id('Job'),
      repositoryIdentifier: repositoryIdentifier.nullable(),
      branch: branch.nullable(),
      commitSha: commitSha.nullable(),
      isScheduled: z.boolean().meta({ description: 'It was one of the night', example: false }),
      error: text('What went wrong', 'The analyzer did not end within 900 s'),
    }),
  ),
  'ai_report.completed': defineEvent(
    'An AI analysis report was published',
    z.strictObject({
      id: id('Report'),
      repositoryIdentifier,
      scope: text('repository, domain or package', 'domain'),
      scopeName: text('Name of the domain or package', 'sales'),
      branch: branch.nullable().optional(),
      commitSha: commitSha.nullable().optional(),
      status: text('completed or failed', 'completed'),
      analyzedAt: dateTime('When it was analysed'),
    }),
  ),
};
