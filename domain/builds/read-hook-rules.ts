import { ForeignJson } from './foreign-json-rules.ts';
import { readHostA } from './host-a-events-rules.ts';
import { readHostB } from './host-b-events-rules.ts';
import { readHostC } from './host-c-events-rules.ts';
import type { HookContent } from './host-events-rules.ts';

const READERS = { 'host-a': readHostA, 'host-b': readHostB, 'host-c': readHostC };

/**
 * Reads the body of a hook by what the host publishes of its hooks. Hooks about other things have no events.
 *
 * @param event the name of the event, where the host gives it in a header.
 */
export const readHook = (host: keyof typeof READERS, body: unknown, event: string): HookContent =>
  READERS[host](new ForeignJson(body), event);
