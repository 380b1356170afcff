import type { Actor } from '../../../kernel/shared/actor.ts';

export const LIVE_MODES = ['watch', 'control'] as const;
/** Who may control may watch, too. */
export type LiveMode = (typeof LIVE_MODES)[number];

/** Somebody who watches a live browser. */
export interface LiveViewer {
  /** Name that others who watch see. */
  name: string;
  may: LiveMode;
  /** In whose name it is noted that they took control. */
  actor: Actor;
  /** The link by which they came; null: they are signed in. */
  linkId: string | null;
}

/** Whether a link opens anything. */
export const holds = (
  { expiresAt, revokedAt }: { expiresAt: string | Date; revokedAt: string | Date | null },
  now: Date,
): boolean => revokedAt === null && new Date(expiresAt) > now;

/** Who comes by a link, as the trail and others who watch see them. */
export const guestOf = (
  { linkId, tenantId, tenantSlug }: { linkId: string; tenantId: string; tenantSlug: string },
  createdBy: Actor,
): Actor => ({
  type: 'system',
  id: `live-link:${linkId}`,
  tenantId,
  tenantSlug,
  role: 'member',
  email: `guest of ${createdBy.email}`,
});

/** Somebody who was let in to a browser, by what their connection says of them. */
export const viewerOf = ({ asks, by, linkId }: { asks: string; by: Actor; linkId: string | null }): LiveViewer => ({
  name: by.email,
  may: asks === 'control' ? 'control' : 'watch',
  actor: by,
  linkId,
});
