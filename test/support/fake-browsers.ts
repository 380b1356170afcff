import type {
  BrowserProvider,
  BrowserProviderName,
  CreatedSession,
  ProviderAnswer,
  ProviderFailureKind,
  ProviderSession,
  Replays,
  SessionOrder,
  SessionRef,
} from '../../domain/review/browser-sessions/browser-provider.port.ts';
import { StartRefused } from '../../domain/review/browser-sessions/browser-provider.port.ts';

const ok = <T>(value: T): ProviderAnswer<T> => ({ isOk: true, value });
const failed = (kind: ProviderFailureKind, message: string) => ({ isOk: false, kind, message }) as const;

export interface SessionBrowser {
  order: SessionOrder;
  keptUntil: Date;
  state: ProviderSession;
}

/** A provider of browsers that are none: it keeps what it was asked, and fails as a test wants. */
export class FakeBrowsers implements BrowserProvider {
  readonly name: BrowserProviderName;
  readonly pollMs = 20;
  readonly allocated = new Map<string, SessionBrowser>();
  readonly released: string[] = [];
  readonly removed: string[] = [];
  releaseAttempts = 0;
  /** `create` answers only when this resolves. */
  creating: Promise<void> = Promise.resolve();
  /** What the next calls of `create` fail with. */
  createFailures: ProviderFailureKind[] = [];
  releaseFailures = 0;
  /** Whether the front door is opened before a browser is allocated. */
  opensFrontDoor = false;
  recording: Replays = { state: 'ready', pages: [page(0), page(1)], bytes: 4_096, reason: null };
  /** The host of a local provider, which allocates its browsers. */
  host: CreatedSession['host'] = null;

  constructor(name: BrowserProviderName) {
    this.name = name;
  }

  async create(order: SessionOrder, signal: AbortSignal): Promise<ProviderAnswer<CreatedSession>> {
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
    await Promise.race([this.creating, aborted]);
    const failure = this.createFailures.shift();
    if (failure) return failed(failure, `the provider says ${failure}`);
    if (this.opensFrontDoor) {
      try {
        await order.startUrl();
      } catch (error) {
        if (error instanceof StartRefused) return failed('front_door_refused', error.message);
        throw error;
      }
    }
    if (!this.allocated.has(order.sessionId))
      this.allocated.set(order.sessionId, { order, keptUntil: order.expiresAt, state: { state: 'running' } });
    return ok({ providerSessionId: `fake-${order.sessionId}`, isolation: 'jailed', host: this.host });
  }

  async get({ sessionId }: SessionRef): Promise<ProviderAnswer<ProviderSession>> {
    const allocated = this.allocated.get(sessionId);
    return allocated ? ok(allocated.state) : failed('not_found', 'The provider does not know the session.');
  }

  async keepUntil({ sessionId }: SessionRef, expiresAt: Date): Promise<ProviderAnswer<null>> {
    const allocated = this.allocated.get(sessionId);
    if (allocated) allocated.keptUntil = expiresAt;
    return ok(null);
  }

  async liveView(): Promise<ProviderAnswer<{ kind: 'own' }>> {
    return ok({ kind: 'own' });
  }

  async release({ sessionId }: SessionRef): Promise<ProviderAnswer<{ isGone: boolean }>> {
    this.releaseAttempts++;
    if (this.releaseFailures > 0) {
      this.releaseFailures--;
      return failed('unavailable', 'the provider is away');
    }
    this.allocated.delete(sessionId);
    this.released.push(sessionId);
    return ok({ isGone: true });
  }

  async marked(): Promise<ProviderAnswer<readonly SessionRef[]>> {
    return ok(
      [...this.allocated.values()].map(({ order: { sessionId, tenantId, projectId } }) => ({
        sessionId,
        tenantId,
        projectId,
        providerSessionId: `fake-${sessionId}`,
      })),
    );
  }

  async replays(): Promise<ProviderAnswer<Replays>> {
    return ok(this.recording);
  }

  async playlist() {
    return failed('not_found', 'There is no such page.');
  }

  async segment() {
    return failed('not_found', 'There is no such segment.');
  }

  async removeRecording({ sessionId }: SessionRef): Promise<ProviderAnswer<null>> {
    this.removed.push(sessionId);
    return ok(null);
  }

  /** The browser ends by itself. */
  close(sessionId: string): void {
    const allocated = this.allocated.get(sessionId);
    if (allocated) allocated.state = { state: 'ended', reason: 'browser_closed', detail: null };
  }
}

const page = (index: number) => ({
  pageId: String(index),
  title: `Page ${index}`,
  startTimeMs: 0,
  endTimeMs: 1_000,
});
