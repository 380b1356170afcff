import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../kernel/shared/ids.ts';
import type { ModelAnswer } from './language-model.port.ts';
import type { ModelProvider } from '../../projects/integrations/model-provider-rules.ts';

/** `running`: it reserves its estimate until the lease ends; `lost`: its process ended before it did. */
export type AiCallOutcome = ModelAnswer['kind'] | 'running' | 'lost';

/** One request to a model; failed ones, too. */
export const AiCallSchema = defineEntity({
  name: 'AiCall',
  tableName: 'ai_call',
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => newId()),
    tenantId: p.uuid(),
    projectId: p.uuid(),
    /** What it was part of. */
    taskExecutionId: p.uuid(),
    /** Integration whose model was called; it may have been deleted since. */
    integrationId: p.uuid(),
    provider: p.text().$type<ModelProvider>(),
    model: p.text(),
    outcome: p.text().$type<AiCallOutcome>(),
    /** The most that it may cost, in USD. */
    estimate: p.double().$type<number>(),
    leaseUntil: p.datetime(3).nullable(),
    /** Tokens without those that were read from the provider's cache or written to it. */
    input: p.integer().nullable(),
    /** Tokens, those of reasoning included. */
    output: p.integer().nullable(),
    reasoning: p.integer().nullable(),
    cacheRead: p.integer().nullable(),
    cacheWrite: p.integer().nullable(),
    /** The provider did not say how many tokens it counted. */
    isEstimated: p.boolean().default(false),
    /** In USD; null without prices. */
    cost: p.double().$type<number>().nullable(),
    durationMs: p.integer().nullable(),
    error: p.text().nullable(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3).nullable(),
  },
});

/** What calls of an integration's models cost in a month of UTC. */
export const AiBudgetMonthSchema = defineEntity({
  name: 'AiBudgetMonth',
  tableName: 'ai_budget_month',
  properties: {
    tenantId: p.uuid().primary(),
    integrationId: p.uuid().primary(),
    /** Its first day. */
    month: p.date().primary(),
    /** In USD. */
    spent: p.double().$type<number>().default(0),
    /** When it was announced that most of the budget is used. */
    warnedAt: p.datetime(3).nullable(),
    /** Budget that was warned of, in USD; a higher one is announced again. */
    warnedOf: p.double().$type<number>().nullable(),
  },
});
