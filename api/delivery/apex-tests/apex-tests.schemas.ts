import { z } from 'zod';
import { queryInt } from '../../http/parameters.ts';

const page = { limit: queryInt(1, 1_000, 100), offset: queryInt(0, 1_000_000, 0) };
const Page = { total: z.int(), limit: z.int(), offset: z.int() };

export const TestsQuery = z.strictObject({
  outcome: z.enum(['passed', 'failed', 'skipped']).optional(),
  ...page,
});
export const CoverageQuery = z.strictObject(page);

const TestResult = z
  .object({
    className: z.string().meta({ description: 'With namespace, where it has one' }),
    method: z.string(),
    outcome: z.string().meta({ description: 'As the platform says it: Pass, Fail, CompileFail, Skip, …' }),
    message: z.string().nullable(),
    stackTrace: z.string().nullable(),
    timeMs: z.number().nullable(),
    isRepeated: z.boolean().meta({
      description: 'Run a second time, since the first attempt could not lock a row: this is what the second said',
    }),
    advice: z.string().nullable().meta({ description: 'What people do about such a failure, where that is known' }),
  })
  .meta({ id: 'ApexTestResult' });

export const TestResults = z.object({
  items: z.array(TestResult),
  passed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  timeMs: z.number(),
  ...Page,
});

const ClassCoverage = z
  .object({
    className: z.string(),
    lines: z.int().meta({ description: 'Lines that can be covered' }),
    uncovered: z.int(),
    percent: z.number().nullable().meta({ description: 'Null: nothing can be covered' }),
  })
  .meta({ id: 'ApexClassCoverage' });

export const Coverage = z.object({
  items: z.array(ClassCoverage),
  lines: z.int(),
  uncovered: z.int(),
  percent: z.number().nullable(),
  ...Page,
});
