import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { DomainError, notFound, upstreamFailed } from '../../../kernel/shared/errors.ts';
import type { UnitOfWork } from '../../../unit-of-work.ts';
import type {
  BrowserProviderName,
  BrowserReplays,
  ProviderFailure,
  ReplayPage,
  SessionRef,
} from '../browser-provider.port.ts';
import { completed } from './playlist-rules.ts';
import { isOpeningNoted } from './replays.queries.ts';
import { subjectOf } from '../session-announcements.ts';
import { isProvisioning } from '../session-rules.ts';
import { addToTimeline } from '../session-changes.queries.ts';
import type { SessionRow } from '../sessions.queries.ts';

/** Where recordings are, by the provider that made them; an external worker keeps its own. */
export type Recordings = Record<Exclude<BrowserProviderName, 'external'>, BrowserReplays>;

/** The recording of a session. Throws `in_progress` where it cannot be played yet, `not_found` where there is none. */
export function recordingOf(recordings: Recordings, tenantId: string, session: SessionRow) {
  const { provider, status, recordingState: state, recordingReason } = session;
  if (provider !== 'external' && isProvisioning(status)) throw notReady();
  if (provider === 'external' || state === 'none')
    throw new DomainError('not_found', `The session has no recording${recordingReason ? `: ${recordingReason}` : ''}`);
  if (state === 'expired') throw new DomainError('not_found', 'The recording has been removed: it was kept its time');
  if (state === 'processing' || (state === 'recording' && provider !== 'local')) throw notReady();
  return { ref: refOf(tenantId, session), source: recordings[provider], isGrowing: state === 'recording' };
}

/** The pages of a recording, as far as they can be played; those of a hosted browser once its provider has them. */
export async function listPages(
  recordings: Recordings,
  tenantId: string,
  session: SessionRow,
  signal: AbortSignal,
): Promise<readonly ReplayPage[]> {
  const { provider, recordingState: state } = session;
  if (provider === 'external' || (provider !== 'local' && state !== 'ready' && state !== 'partial')) return [];
  const answer = await recordings[provider].replays(refOf(tenantId, session), signal);
  if (!answer.isOk) throw replayError(answer);
  return answer.value.pages;
}

const refOf = (tenantId: string, { id, projectId, providerSessionId }: SessionRow): SessionRef => ({
  tenantId,
  sessionId: id,
  projectId,
  providerSessionId,
});

/** The playlist of a page as its provider has it, with the address that its own addresses are relative to. */
export async function readPlaylist(
  recordings: Recordings,
  tenantId: string,
  session: SessionRow,
  pageId: string,
  signal: AbortSignal,
): Promise<{ body: Buffer; address: string }> {
  const { ref, source, isGrowing } = recordingOf(recordings, tenantId, session);
  const answer = await source.playlist(ref, pageId, signal);
  if (!answer.isOk) throw isGrowing && answer.kind === 'not_found' ? notReady() : replayError(answer);
  const { body, address } = answer.value;
  return { body: isGrowing ? body : completed(body), address };
}

/** Notes that somebody opened a page of a recording; players that read on within the hour are not noted again. */
export async function noteOpened(
  uow: UnitOfWork,
  reads: Reads,
  session: SessionRow,
  { pageId, email }: { pageId: string; email: string },
): Promise<void> {
  if (await isOpeningNoted(reads, { sessionId: session.id, pageId, email })) return;
  await uow(async (tx) => {
    const summary = `Replay of page ${pageId} opened`;
    await addToTimeline(tx, session, { kind: 'replay_opened', summary, data: { pageId } });
    tx.audit({
      source: 'browser',
      action: 'browser_session.replay_opened',
      entityType: 'browser_session',
      entityId: session.id,
      repositoryIdentifier: session.repositoryIdentifier,
      summary: `Browser session of ${subjectOf(session)}: ${summary}`,
      after: { pageId },
    });
  });
}

const notReady = () => new DomainError('in_progress', 'The recording is not ready yet');

/** What a caller is told where a provider did not give a part of a recording. */
export function replayError({ kind, message }: ProviderFailure): DomainError {
  if (kind === 'not_found') return notFound('The part of the recording');
  if (kind === 'in_progress') return notReady();
  if (kind === 'timeout') return upstreamFailed('The provider of the recording', 'timeout');
  return new DomainError('upstream_error', message);
}
