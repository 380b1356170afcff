import type { Registry } from 'prom-client';
import type { Database } from '../domain/kernel/data/tables.ts';
import type { Base } from './base.ts';
import type { CodeWork } from './code/parts.ts';
import type { DeliveryParts, DeliveryWork } from './delivery/parts.ts';
import type { EventWork } from './events/parts.ts';
import type { InsightParts, InsightWork } from './insight/parts.ts';
import type { MockWork } from './mocks/parts.ts';
import type { OrgParts, OrgWork } from './orgs/parts.ts';
import type { PeopleParts } from './people/parts.ts';
import type { ReviewWork } from './review/parts.ts';
import type { WorkParts } from './work/parts.ts';

/** What activities reach, by area; made once by the composition root. */
export interface Deps
  extends Pick<
      Base,
      'actingAs' | 'reads' | 'launch' | 'signals' | 'encryption' | 'objects' | 'publicUrl' | 'log' | 'now'
    >,
    EventWork,
    MockWork,
    CodeWork,
    OrgParts,
    OrgWork,
    Pick<DeliveryParts, 'environmentLocks'>,
    DeliveryWork,
    ReviewWork,
    WorkParts,
    PeopleParts,
    Pick<InsightParts, 'metricsStore'>,
    InsightWork {
  /** Statements of the system role, which works across tenants; ADR 2 says what it sees. */
  system: Database;
  /** What this process measures. */
  metrics: Registry;
  /** For how many days what has ended is kept. */
  retention: { reviewDays: number; pullRequestDays: number; mockCallDays: number };
}
