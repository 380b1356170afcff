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
    history: z
      .object({
        runs: z.int(),
        failures: z.int(),
        isFlaky: z.boolean().meta({
          description: 'With one commit it both passed and failed, or it passed when it was run again at once',
        }),
      })
      .nullable()
      .meta({ description: 'In the last 20 runs of tests in the org, this one included' }),
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

const ChangedLines = z
  .object({ covered: z.int(), total: z.int(), percent: z.number().nullable() })
  .nullable()
  .meta({ id: 'ChangedLinesCoverage' });

const ClassCoverage = z
  .object({
    className: z.string(),
    lines: z.int().meta({ description: 'Lines that can be covered' }),
    uncovered: z.int(),
    percent: z.number().nullable().meta({ description: 'Null: nothing can be covered' }),
    changedLines: ChangedLines.meta({ description: 'Null: no line changed, it was not asked for, or it is not known' }),
    whyUnknown: z.string().nullable().meta({ description: 'Why it is not known which lines that changed are covered' }),
  })
  .meta({ id: 'ApexClassCoverage' });

export const Coverage = z.object({
  items: z.array(ClassCoverage),
  lines: z.int(),
  uncovered: z.int(),
  percent: z.number().nullable(),
  changedLines: ChangedLines.meta({
    description:
      'The sum over all classes that changed; null: it was not asked for, or it is not known. Its percent is null where `changedUnknown` is not 0',
  }),
  changedUnknown: z.int().meta({ description: 'Classes that changed, and of which it is not known' }),
  whyUnknown: z.string().nullable().meta({ description: 'Why nothing is known of the lines that changed' }),
  ...Page,
});
