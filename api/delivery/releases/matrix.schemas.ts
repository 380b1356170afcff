import { z } from 'zod';
import { anyText, mapOf } from '../../../domain/kernel/overrides/large-maps.ts';
import { COLUMNS_MAX } from '../../../domain/delivery/releases/matrix/matrix-columns.ts';
import { CELL_STATES } from '../../../domain/delivery/releases/matrix/matrix-rules.ts';
import { ENVIRONMENT_CATEGORIES } from '../../../domain/projects/environments/environments.entities.ts';
import {
  DateTime,
  Name,
  queryFlag,
  queryInt,
  queryList,
  RepositoryIdentifier,
  Timestamp,
} from '../../http/parameters.ts';
import { HoldOfCandidate } from '../holds.ts';
import { Cursor } from '../../http/place-cursor.ts';

export const MatrixQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  domain: Name.optional(),
  environments: queryList(Name, COLUMNS_MAX).meta({
    description: `Names or ids of the active environments that are columns, at most ${COLUMNS_MAX}; all of them where there are no more than that, otherwise required`,
  }),
  q: Name.optional().meta({
    description: 'Part of a release name, in any case, or the beginning of a commit id',
  }),
  from: DateTime.optional().meta({
    override: {
      type: 'string',
      format: 'date-time',
      description:
        'Only candidates that were created then or later, beside those that run or last succeeded in one of the columns',
    },
  }),
  includeSuperseded: queryFlag(false),
  limit: queryInt(1, 50, 50),
  cursor: Cursor.optional(),
});

const Column = z.object({
  environmentId: z.uuid(),
  name: z.string(),
  category: z.enum(ENVIRONMENT_CATEGORIES),
  isLocked: z.boolean(),
  heldBy: z.string().nullable().meta({ description: 'Who holds the lock' }),
  waitingLocks: z.int().meta({ description: 'Tickets that wait for the lock' }),
  openApprovals: z.int().meta({ description: 'Approvals of runs for the environment that wait for a decision' }),
  frozenUntil: Timestamp.nullable().meta({
    description: 'When the freeze ends that holds now, with those that follow it without a gap; null: none holds',
  }),
  running: z.int().meta({ description: 'Runs at work in the environment, whatever they do there' }),
});

const Cell = z
  .object({
    environmentId: z.uuid(),
    state: z.enum(CELL_STATES).meta({
      description: [
        '`deployed`, `installed_before`: the candidate is deployed there, and its release is one of those that run there, or is not any more.',
        '`partial`, `failed`, `rolled_back`, `other_content`: why it is not, as the `deployment` of a comparison says it.',
        '`waiting_approval`, `waiting_window`, `waiting_lock`: a run that takes it there waits for that; `running`: one is at work, or about to begin. What runs do goes before what was deployed.',
        '`held`: a hold keeps it from there; what is deployed or at work there says so instead.',
        '`never`: nothing of it was deployed there; `not_taken`: nor does the environment take releases of its branch.',
      ].join(' '),
    }),
    version: z.string().optional().meta({
      description:
        'The version of its packages by the report that `since` is about; absent where none were installed, or in several versions',
    }),
    since: Timestamp.nullable().meta({
      description:
        'Deployed: since when it is; rolled back: when; held: since when; waiting or running: since when the run does; otherwise when it was last reported. Null if nothing was, or if it is not known',
    }),
    by: z
      .string()
      .nullable()
      .meta({ description: 'Who reported that, holds it, or set off the run; null if nobody is known' }),
    executionId: z.string().optional().meta({
      description: 'The run that waits or is at work, or the one by which it was deployed, as its report names it',
    }),
    approvalId: z.uuid().optional().meta({ description: 'The approval that the run waits for' }),
    nextWindowAt: Timestamp.optional().meta({
      description: 'When a run that waits for a window can go on, as far as that is known',
    }),
    missingPackages: z
      .array(z.string())
      .meta({ description: 'Its packages that are not installed there with its present content' }),
  })
  .meta({ id: 'ReleaseMatrixCell' });

export const MatrixRow = z.object({
  domain: z.string(),
  releaseName: z.string(),
  candidateId: z.uuid(),
  status: z.string(),
  hold: HoldOfCandidate,
  isSuperseded: z.boolean(),
  supersededBy: z
    .string()
    .nullable()
    .meta({ description: 'The newer release with which it was finalized; null: it was not superseded' }),
  commitSha: z.string(),
  createdAt: Timestamp,
  packages: mapOf(anyText, anyText).meta({ description: 'Maps its packages to versions' }),
  cells: z.array(Cell).meta({ description: 'One for each column, in their order' }),
});

export const ReleaseMatrix = z
  .object({
    repositoryIdentifier: z.string(),
    at: Timestamp,
    columns: z.array(Column),
    rows: z.array(MatrixRow).meta({ description: 'Candidates, newest first' }),
    nextCursor: z.string().nullable(),
    total: z.int().meta({ description: 'Rows on all pages' }),
  })
  .meta({ id: 'ReleaseMatrix' });

export const RunningReleases = z.array(
  z
    .object({
      environment: z.string().meta({ description: 'Name of the environment' }),
      domain: z.string(),
      releaseName: z.string(),
      since: Timestamp.meta({
        description:
          'Since when it is deployed there; for one of which parts run alone, or other content than it has now, when that came',
      }),
      by: z.string().nullable().meta({ description: 'Who reported that; null if it is not known' }),
    })
    .meta({ id: 'RunningRelease' }),
);
