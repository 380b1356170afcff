import { gcCheck, type GcCheckRow, requestGcCheck } from '../../../domain/orgs/gc-ledger/gc-checks.mutations.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { gcCheckContract, gcCheckInput } from '../../../workflows/orgs/gc-ledger/gc-check.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { CheckIn, GcCheckOut } from './gc-ledger.schemas.ts';

const GROUP = 'GC ledger';

const view = ({ projectId: _, ...check }: GcCheckRow) => check;

export const gcChecksRoutes = [
  defineRoute({
    operationId: 'startGcCheck',
    method: 'post',
    path: '/api/gc-ledger/check',
    group: GROUP,
    summary: 'Check which dropped components of a branch its orgs still have',
    description:
      'The service lists the metadata of the orgs of all active environments that track the branch, and records what it finds as `POST /api/gc-ledger/org-check` would. What an org does not answer for is `unknown`, and so are types that the platform does not list. A check of the branch that is under way is joined; without an environment to ask: 400. Poll `GET /api/gc-ledger/check/{id}`.',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: CheckIn,
    status: 202,
    response: GcCheckOut,
    audit: 'gc.check_requested',
    async handle({ body: { repositoryIdentifier, branch } }, { tx, actor, adapters }) {
      const check = await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        return requestGcCheck(work, { project, branch });
      });
      adapters.launch.startInBackground(gcCheckContract, gcCheckInput(tenantOf(actor), check));
      return view(check);
    },
  }),
  defineRoute({
    operationId: 'getGcCheck',
    method: 'get',
    path: '/api/gc-ledger/check/{id}',
    group: GROUP,
    summary: 'Get a check of the orgs of a branch',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: GcCheckOut,
    handle: async ({ params: { id } }, { tx }) => view(await tx((work) => gcCheck(work, id))),
  }),
];
