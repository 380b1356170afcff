import type { AttentionRule } from '../../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../../kernel/text/date-time-rules.ts';

/** Repositories that could not be read when that was tried last: what is answered of them is older. */
export const staleMirrors: AttentionRule = {
  kind: 'mirror_stale',
  shownBy: 'getProjectMirror',
  action: 'fetchProjectMirror',
  async find({ db, tenantId }, { limit }) {
    const rows = await db
      .selectFrom('git_mirror as m')
      .innerJoin('project as p', (join) =>
        join.onRef('p.tenantId', '=', 'm.tenantId').onRef('p.id', '=', 'm.projectId'),
      )
      .where('m.tenantId', '=', tenantId)
      .where('m.error', 'is not', null)
      .where('p.remoteUrl', 'is not', null)
      .orderBy('m.completedAt', 'desc')
      .limit(limit)
      .select(['p.id', 'p.identifier', 'p.createdAt', 'm.error', 'm.fetchedAt'])
      .execute();
    return rows.map(({ id, identifier, createdAt, error, fetchedAt }) => ({
      key: id,
      title: identifier,
      reason: `${fetchedAt === null ? 'The repository was never read' : `What is known of the repository is of ${isoOf(fetchedAt)}`}: ${error}`,
      since: isoOf(fetchedAt ?? createdAt),
      repositoryIdentifier: identifier,
      params: { identifier },
      // Each failure after a success is another one.
      state: `${error} ${fetchedAt}`,
    }));
  },
};
