import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { Gate } from './comparisons/gate-rules.ts';
import type { Level } from './sarif/sarif-rules.ts';
import type { AnalysisSummary } from './summary-rules.ts';

/** What an analysis of a commit found. A branch keeps the newest ten. */
export const CodeAnalysisSchema = defineEntity({
  name: 'CodeAnalysis',
  tableName: 'code_analysis',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    branch: p.text(),
    commitId: p.text(),
    analyzedAt: p.datetime(3),
    durationMs: p.double().$type<number>().nullable(),
    summary: jsonColumn<AnalysisSummary>(),
    /** Analyzer of an analysis that the service ran itself; null when the results came from outside. */
    engine: p.text().nullable(),
    /** E-mail or name of who published it or asked for it. */
    triggeredBy: p.text(),
    isScheduled: p.boolean().default(false),
    /** The SARIF log in the object store. */
    bodyId: p.uuid(),
    /** When its issues were written to `code_analysis_result`. */
    indexedAt: p.datetime(3).nullable(),
    /** When it was compared with the run before it; null: it is due. */
    comparedAt: p.datetime(3).nullable(),
    /** When `code_analysis.completed` was emitted. */
    announcedAt: p.datetime(3).nullable(),
    /** The run that it was compared with, which may be gone since. */
    baseId: p.uuid().nullable(),
    newIssues: p.integer().nullable(),
    fixedIssues: p.integer().nullable(),
    gate: jsonColumn<Gate>().nullable(),
    /** The commit status is to be written to the git host. */
    statusDue: p.boolean().default(false),
    /** Why the commit status could not be written. */
    statusError: p.text().nullable(),
  },
});
export class CodeAnalysis extends CodeAnalysisSchema.class {}
CodeAnalysisSchema.setClass(CodeAnalysis);

/** An issue of an analysis that is not suppressed. The same issue of another run has the same fingerprint and ordinal. */
export const CodeAnalysisResultSchema = defineEntity({
  name: 'CodeAnalysisResult',
  tableName: 'code_analysis_result',
  properties: {
    tenantId: p.uuid().primary(),
    analysisId: p.uuid().primary(),
    /** Digest of tool, rule, path and hash of the line. */
    fingerprint: p.text().primary(),
    /** Counts the issues of a run with the same fingerprint, from 0 on. */
    ordinal: p.integer().primary(),
    projectId: p.uuid(),
    /** In the log, over all runs. */
    position: p.integer(),
    tool: p.text(),
    ruleId: p.text(),
    level: p.text().$type<Level>(),
    path: p.text(),
    startLine: p.integer().nullable(),
    message: p.text(),
  },
});

/** A SARIF log in the object store. One that no analysis has is an upload under way, or is to be removed. */
export const CodeAnalysisBodySchema = defineEntity({
  name: 'CodeAnalysisBody',
  tableName: 'code_analysis_body',
  properties: {
    tenantId: p.uuid().primary(),
    id: p.uuid().primary(),
    /** Null while it is stored. */
    sizeBytes: p.bigint().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});
