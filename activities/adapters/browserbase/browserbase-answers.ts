import { z } from 'zod';
import type { ProviderSession } from '../../../domain/review/browser-sessions/browser-provider.port.ts';

/** Answers of Browserbase's interface, as far as they are used. */
export const Session = z.looseObject({
  id: z.string().regex(/^[\w-]{1,100}$/),
  status: z.enum(['PENDING', 'RUNNING', 'ERROR', 'TIMED_OUT', 'COMPLETED']),
  connectUrl: z.string().nullish(),
  userMetadata: z.record(z.string(), z.unknown()).nullish(),
});
export type Session = z.output<typeof Session>;
export const Live = z.looseObject({ debuggerFullscreenUrl: z.url({ protocol: /^https?$/ }) });
export const Replays = z.looseObject({
  pages: z
    .array(
      z.looseObject({
        pageId: z.string().regex(/^\d{1,3}$/),
        startTimeMs: z.number(),
        endTimeMs: z.number().nullish(),
        title: z.string().nullish(),
      }),
    )
    .max(100),
});

export const isRunning = ({ status }: Pick<Session, 'status'>): boolean => status === 'PENDING' || status === 'RUNNING';

export function stateOf({ status }: Session): ProviderSession {
  if (status === 'PENDING') return { state: 'starting' };
  if (status === 'RUNNING') return { state: 'running' };
  if (status === 'ERROR') return { state: 'ended', reason: 'provider_error', detail: 'Browserbase reports an error' };
  return { state: 'ended', reason: status === 'TIMED_OUT' ? 'expired' : 'browser_closed', detail: null };
}
