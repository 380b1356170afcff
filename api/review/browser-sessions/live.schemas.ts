import { z } from 'zod';
import { LIVE_MODES } from '../../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import {
  CAP_MINUTES,
  RECORDING_STATES,
  SESSION_STATUSES,
  STATUS_REASONS,
} from '../../../domain/review/browser-sessions/session-rules.ts';
import { Id, Timestamp } from '../../http/parameters.ts';

export const LiveLinkIn = z.strictObject({
  mode: z.enum(LIVE_MODES).meta({ description: '`control` may watch, too' }),
  minutes: z.int().min(1).max(CAP_MINUTES).meta({
    description: 'How long the link holds; it ends with the session at the latest',
  }),
});

const liveLink = {
  id: z.uuid(),
  mode: z.enum(LIVE_MODES),
  createdBy: z.string(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  revokedAt: Timestamp.nullable(),
};
export const LiveLink = z.object(liveLink).meta({ id: 'BrowserLiveLink' });
export const NewLiveLink = z
  .object({ ...liveLink, url: z.url().meta({ description: 'Shown this once' }) })
  .meta({ id: 'NewBrowserLiveLink' });
export const LiveLinks = z.object({ items: z.array(LiveLink) });
export const byLink = z.object({ id: Id, linkId: Id });

export const LivePageQuery = z.strictObject({
  link: z.string().max(2_000).optional().meta({
    description: 'A live link; it becomes a cookie, and the page goes on without it in its address',
  }),
  view: z
    .enum(['mjpeg'])
    .optional()
    .meta({ description: '`mjpeg`: a page without script, which shows pictures alone' }),
});

export const LiveState = z
  .object({
    status: z.enum(SESSION_STATUSES),
    hasEnded: z.boolean(),
    statusReason: z.enum(STATUS_REASONS).nullable(),
    statusDetail: z.string().nullable(),
    expiresAt: Timestamp,
    leftMs: z.int(),
    view: z.enum(['own', 'frame', 'link']),
    viewer: z.object({
      name: z.string(),
      isSignedIn: z.boolean(),
      mayControl: z.boolean(),
      mayChange: z.boolean(),
    }),
    recording: z.object({ state: z.enum(RECORDING_STATES) }),
  })
  .meta({ id: 'BrowserLiveState' });
