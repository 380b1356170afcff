import { sql } from 'kysely';
import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';

/** Approvals that nobody has given or refused and that expire within a day. */
export const expiringApprovals: AttentionRule = {
  kind: 'approval_expiring',
  shownBy: 'getApproval',
  action: 'grantApproval',
  async find({ db, tenantId }, { limit }) {
    const rows = await db
      .selectFrom('approval')
      .where('tenantId', '=', tenantId)
      .where('status', '=', 'requested')
      .where('expiresAt', '>', sql<string>`now()`)
      .where('expiresAt', '<=', sql<string>`now() + interval '1 day'`)
      .orderBy('expiresAt')
      .limit(limit)
      .select(['id', 'taskType', 'releaseName', 'environmentName', 'repositoryIdentifier', 'requestedBy'])
      .select([sql<string>`expires_at::timestamptz(3)`.as('expiresAt'), 'createdAt'])
      .execute();
    return rows.map(({ id, taskType, releaseName, environmentName, requestedBy, expiresAt, createdAt, ...row }) => ({
      key: id,
      title: [releaseName ?? taskType, ...(environmentName === null ? [] : [`to ${environmentName}`])].join(' '),
      reason: `${requestedBy} waits for an approval that expires at ${isoOf(expiresAt)}`,
      since: isoOf(createdAt),
      repositoryIdentifier: row.repositoryIdentifier,
      params: { id },
      state: isoOf(expiresAt),
    }));
  },
};
