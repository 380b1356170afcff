import { json } from '../../domain/kernel/data/columns.ts';
import { recordingKey } from '../../domain/review/browser-sessions/recordings/local-recordings.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import type { TestApp } from './app.ts';

const PLAYLIST = '#EXTM3U\n#EXT-X-MAP:URI="init.mp4"\n#EXTINF:2.0,\nsegment-00000.m4s\n';
/** When its recording began. */
export const RECORDED_AT = '2026-03-02T09:00:00.000Z';

export interface RecordedSession {
  projectId: string;
  environmentId?: string;
  provider?: 'local' | 'browserbase' | 'external';
  recordingState?: 'none' | 'recording' | 'processing' | 'ready' | 'expired';
  providerSessionId?: string | null;
  isLive?: boolean;
}

/**
 * A session that has ended; of a local one a page is recorded, with one segment of ten bytes. One that is live
 * has no page yet. */
export async function recordedSession(
  { db, objects, tenant: { id: tenantId } }: Pick<TestApp, 'db' | 'objects' | 'tenant'>,
  {
    projectId,
    environmentId,
    provider = 'local',
    recordingState = 'ready',
    providerSessionId = null,
    isLive = false,
  }: RecordedSession,
): Promise<string> {
  const id = newId();
  const createdBy = {
    type: 'user',
    id: newId(),
    email: 'someone@example.com',
    role: 'member',
    tenantId,
    tenantSlug: '',
  };
  await db
    .insertInto('browser_session')
    .values({
      id,
      tenantId,
      projectId,
      ...(environmentId !== undefined && { environmentId }),
      orgUsername: 'review@example.com',
      provider,
      ...(isLive ? { status: 'live' } : { status: 'ended', statusReason: 'stopped' }),
      minutes: 15,
      viewport: json({ width: 1280, height: 720 }),
      createdBy: json(createdBy as never),
      expiresAt: isLive ? new Date(Date.now() + 1_800_000) : RECORDED_AT,
      recordingState,
      providerSessionId,
    })
    .execute();
  if (provider !== 'local' || isLive) return id;
  const page = { tenantId, sessionId: id, pageId: 0, projectId, title: 'Shop', startedAt: RECORDED_AT, segments: 1 };
  await db.insertInto('browser_replay_page').values(page).execute();
  for (const [name, content] of Object.entries({ 'playlist.m3u8': PLAYLIST, 'segment-00000.m4s': '0123456789' })) {
    const bytes = (async function* () {
      yield Buffer.from(content);
    })();
    await objects.put(recordingKey({ tenantId, sessionId: id }, 0, name), bytes, 'video/mp4');
  }
  return id;
}
