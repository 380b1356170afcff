import { LRUCache } from 'lru-cache';
import type { SessionOwner } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { SESSIONS } from '../../../domain/review/browser-sessions/session-announcements.ts';
import { findCredentials } from '../../../domain/projects/integrations/integrations.mutations.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { Base } from '../../base.ts';
import type { BrowserbaseAccess } from './browserbase-http.ts';

type Project = Omit<SessionOwner, 'sessionId'>;

/** A session is asked for every few seconds; each reading of a credential is noted in the audit trail. */
const KEPT_MS = 60_000;
const KEPT_MAX = 1_000;

/** Finds the integrations of kind `browser`; what was found is kept for a minute. */
export function createBrowserbaseAccess({
  actingAs,
  encryption,
  now,
}: Pick<Base, 'actingAs' | 'encryption' | 'now'>): (owner: Project) => Promise<BrowserbaseAccess | undefined> {
  const kept = new LRUCache<string, { access: BrowserbaseAccess | undefined; untilMs: number }>({ max: KEPT_MAX });

  async function read({ tenantId, projectId }: Project): Promise<BrowserbaseAccess | undefined> {
    const actor = systemActor({ tenantId, tenantSlug: '' }, SESSIONS);
    const found = await actingAs(actor)((tx) =>
      findCredentials(tx, encryption, { kind: 'browser', projectId, purpose: 'browser sessions' }),
    );
    if (!found) return undefined;
    const { baseUrl, settings, credentials } = found;
    const { browserbaseProject } = settings;
    return {
      baseUrl,
      apiKey: credentials.type === 'token' ? credentials.token : credentials.password,
      ...(typeof browserbaseProject === 'string' && browserbaseProject !== '' && { browserbaseProject }),
    };
  }

  return async (owner) => {
    const key = `${owner.tenantId}:${owner.projectId}`;
    const nowMs = now().getTime();
    const last = kept.get(key);
    if (last && last.untilMs > nowMs) return last.access;
    const access = await read(owner);
    kept.set(key, { access, untilMs: nowMs + KEPT_MS });
    return access;
  };
}
