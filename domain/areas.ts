import type { Area } from './kernel/area-manifest.ts';
import { kernel } from './kernel/area.ts';
import { events } from './events/area.ts';
import { identity } from './identity/area.ts';
import { mocks } from './mocks/area.ts';
import { projects } from './projects/area.ts';
import { code } from './code/area.ts';
import { orgs } from './orgs/area.ts';
import { delivery } from './delivery/area.ts';
import { review } from './review/area.ts';
import { work } from './work/area.ts';
import { ci } from './ci/area.ts';
import { people } from './people/area.ts';
import { insight } from './insight/area.ts';
import { handlersOf } from './kernel/hooks.ts';

/** What areas of the product add to the service, from the ground up: each knows only those before it. */
const areas: readonly Area[] = [
  kernel,
  events,
  identity,
  mocks,
  projects,
  code,
  orgs,
  delivery,
  review,
  work,
  ci,
  people,
  insight,
];

/** Every encrypted column of the schema; `rotate-keys` re-encrypts these. */
export const ENCRYPTED_COLUMNS = areas.flatMap(({ encryptedColumns = [] }) => encryptedColumns);

/** How what a person should look at is found, of each kind. */
export const ATTENTION = areas.flatMap(({ attention = [] }) => attention);

/** What areas do when something happens in others. */
export const HOOKS = handlersOf(areas);
