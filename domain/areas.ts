import type { Area } from './kernel/area.port.ts';
import { kernel } from './kernel/area.ts';
import { events } from './events/area.ts';
import { identity } from './identity/area.ts';
import { mocks } from './mocks/area.ts';
import { projects } from './projects/area.ts';
import { orgs } from './orgs/area.ts';
import { review } from './review/area.ts';
import { ci } from './ci/area.ts';
import { people } from './people/area.ts';

/** What areas of the product add to the service, from the ground up: each knows only those before it. */
const areas: readonly Area[] = [kernel, events, identity, mocks, projects, orgs, review, ci, people];

/** Every encrypted column of the schema; `rotate-keys` re-encrypts these. */
export const ENCRYPTED_COLUMNS = areas.flatMap((area) => area.encryptedColumns);
