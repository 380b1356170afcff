import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { TestGates } from '../../projects/policies/test-gate-rules.ts';

/** What became of a method of an Apex test in a run. */
export const ApexTestResultSchema = defineEntity({
  name: 'ApexTestResult',
  tableName: 'apex_test_result',
  properties: {
    tenantId: p.uuid().primary(),
    runId: p.uuid().primary(),
    /** With namespace, where it has one: `ns.InvoiceTest`. */
    className: p.text().primary(),
    method: p.text().primary(),
    /** The platform's word, an open set: Pass, Fail, CompileFail, Skip. */
    outcome: p.text(),
    message: p.text().nullable(),
    stackTrace: p.text().nullable(),
    timeMs: p.double().$type<number>().nullable(),
    /** This is the result of a second attempt, after a lock in the first. */
    isRepeated: p.boolean().default(false),
  },
});

/** Which lines of a class the tests of an org cover, at the end of a run. */
export const ApexClassCoverageSchema = defineEntity({
  name: 'ApexClassCoverage',
  tableName: 'apex_class_coverage',
  properties: {
    tenantId: p.uuid().primary(),
    runId: p.uuid().primary(),
    className: p.text().primary(),
    /** Lines that can be covered. */
    lines: p.integer(),
    uncovered: p.integer(),
    /** How many of these lines changed; null: the class did not change, or it is not known. */
    changedLines: p.integer().nullable(),
    changedCovered: p.integer().nullable(),
    /** Why it is not known which lines that changed are covered. */
    whyUnknown: p.text().nullable(),
  },
});

/** What a run of Apex tests began with. */
export const ApexTestRunSchema = defineEntity({
  name: 'ApexTestRun',
  tableName: 'apex_test_run',
  properties: {
    tenantId: p.uuid().primary(),
    runId: p.uuid().primary(),
    orgId: p.uuid(),
    /** The commit that the org ran, as far as that is known. */
    ranSha: p.text().nullable(),
    /** The commits that are compared; null: that is not asked for, or `whyUnknown` says why not. */
    commitSha: p.text().nullable(),
    baseSha: p.text().nullable(),
    whyUnknown: p.text().nullable(),
    gates: jsonColumn<TestGates>().defaultRaw("'{}'::jsonb"),
    beganAt: p.datetime(3),
  },
});
