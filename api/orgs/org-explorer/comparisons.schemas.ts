import { z } from 'zod';
import { DIFFERENCES } from '../../../domain/orgs/org-explorer/explorer-rules.ts';
import { SIDES } from '../../../domain/orgs/org-explorer/index-state-rules.ts';
import { Timestamp } from '../../http/parameters.ts';
import { state, OrgState, change } from './org-explorer.schemas.ts';

const Side = z.object({ hash: z.string().nullable(), lastModifiedAt: Timestamp.nullable() });
const REFUSED = 'Null unless the status is `available`: nothing can be said';
const said = { status: state.status, message: state.message };

export const Difference = z.enum(DIFFERENCES);
export const ComparisonOut = z.object({
  ...said,
  left: OrgState,
  right: OrgState,
  notCompared: z
    .array(z.object({ metadataType: z.string(), side: z.enum(SIDES), reason: z.enum(['failed', 'unread']) }))
    .meta({ description: 'Types that are left out, since it is not known what that side has of them' }),
  items: z
    .array(
      z.object({
        ...change,
        difference: Difference.meta({
          description: '`unknown`: both have it, and the source of one of them at least is not kept as it is now',
        }),
        left: Side.nullable(),
        right: Side.nullable(),
      }),
    )
    .nullable()
    .meta({ description: REFUSED }),
});

export const UnpackagedOut = z.object({
  ...said,
  org: OrgState,
  packages: z.int().meta({ description: 'Packages of the branch that have a manifest' }),
  unreadableManifests: z.array(z.string()).meta({ description: 'Packages whose manifest cannot be read' }),
  items: z
    .array(z.object({ ...change, lastModifiedAt: Timestamp.nullable(), lastModifiedBy: z.string().nullable() }))
    .nullable()
    .meta({ description: REFUSED }),
});
