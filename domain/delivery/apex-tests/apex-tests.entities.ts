import { defineEntity, p } from '@mikro-orm/core';

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
  },
});
