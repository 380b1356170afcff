import { entities as kernel } from './kernel/tables.ts';
import { entities as events } from './events/tables.ts';
import { entities as identity } from './identity/tables.ts';
import { entities as documents } from './documents/tables.ts';
import { entities as mocks } from './mocks/tables.ts';
import { entities as projects } from './projects/tables.ts';
import { entities as code } from './code/tables.ts';
import { entities as orgs } from './orgs/tables.ts';
import { entities as delivery } from './delivery/tables.ts';
import { entities as review } from './review/tables.ts';
import { entities as work } from './work/tables.ts';
import { entities as ci } from './ci/tables.ts';
import { entities as people } from './people/tables.ts';
import { entities as insight } from './insight/tables.ts';

/** Every table of the schema. */
export const entities = [
  ...kernel,
  ...events,
  ...identity,
  ...documents,
  ...mocks,
  ...projects,
  ...code,
  ...orgs,
  ...delivery,
  ...review,
  ...work,
  ...ci,
  ...people,
  ...insight,
];
