import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { ReportScope, ReportStatus } from './ai-report-rules.ts';
import type { ReportFacts } from './fact-rules.ts';
import type { Findings } from './findings-rules.ts';

/** Tokens that a model took: `input` without what was read from its cache, `output` with what it reasoned. */
export interface TokenUsage {
  input: number;
  output: number;
  reasoning: number;
  cacheRead: number;
  cacheWrite: number;
}

export const AiReportSchema = defineEntity({
  name: 'AiReport',
  tableName: 'ai_report',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    branch: p.text(),
    scope: p.text().$type<ReportScope>(),
    scopeName: p.text(),
    status: p.text().$type<ReportStatus>(),
    commitSha: p.text().nullable(),
    /** When it was analyzed; for a generation under way, when it was asked for. */
    analyzedAt: p.datetime(3),
    markdown: p.text().nullable(),
    provider: p.text().nullable(),
    model: p.text().nullable(),
    executionTimeMs: p.integer().nullable(),
    taskExecutionId: p.text().nullable(),
    usage: jsonColumn<TokenUsage>().nullable(),
    /** USD; null: not known. */
    cost: p.double().$type<number>().nullable(),
    error: p.text().nullable(),
    requestedBy: p.text(),
    /** Version of the prompt that the generation uses; null: the report was published. */
    promptVersion: p.integer().nullable(),
    /** SHA-256 of its facts. */
    factsDigest: p.text().nullable(),
    /** How many facts it lists. */
    factCount: p.integer().nullable(),
    /** Claims of the model without a valid citation. */
    droppedClaims: p.integer().nullable(),
    /** Facts for a generation; null again once it has ended, as are the two columns below. */
    facts: jsonColumn<ReportFacts>().nullable(),
    /** The model's last answer. */
    answer: p.text().nullable(),
    findings: jsonColumn<Findings>().nullable(),
  },
});
export class AiReport extends AiReportSchema.class {}
AiReportSchema.setClass(AiReport);
