import { z } from 'zod';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { releaseMatrix } from '../../../domain/delivery/releases/matrix/release-matrix.ts';
import { runningReleases } from '../../../domain/delivery/releases/matrix/running-releases.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { RepositoryIdentifier } from '../../http/parameters.ts';
import { leadingOn } from '../../http/place-cursor.ts';
import { JsonText, reply } from '../../http/replies.ts';
import { matrixText } from './matrix-text.ts';
import { MatrixQuery, ReleaseMatrix, RunningReleases } from './matrix.schemas.ts';

const GROUP = 'Releases';

export const matrixRoutes = [
  defineRoute({
    operationId: 'getReleaseMatrix',
    method: 'get',
    path: '/api/releases/matrix',
    group: GROUP,
    summary: 'Get where each release candidate is, in a row for each and a column for each environment',
    description: [
      'Columns are active environments in deployment order. Rows are candidates, newest first, also those that were never deployed. Candidates that were superseded are omitted unless `includeSuperseded` is true.',
      'What runs in one of the columns, and what last succeeded there, is a row in its place, however old or superseded it is; only `domain` and `q` omit it. A release whose candidate was deleted has no row; `GET /api/releases/where` lists it while it runs.',
      'Pages follow one another without gaps or repetitions when candidates are added meanwhile.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: MatrixQuery,
    status: 200,
    response: ReleaseMatrix,
    async handle({ query: { repositoryIdentifier, ...options } }, { reads, requestUrl, now }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      const { next, ...matrix } = await releaseMatrix(reads, project, options, now());
      const { nextCursor, parts } = leadingOn(requestUrl, next);
      return reply(new JsonText(matrixText({ ...matrix, nextCursor })), parts);
    },
  }),
  defineRoute({
    operationId: 'getRunningReleases',
    method: 'get',
    path: '/api/releases/where',
    group: GROUP,
    summary: 'Get which releases run in the active environments of a repository',
    description:
      'The releases that `GET /api/releases` lists with `activeOnly`, in deployment order of the environments: of each domain that of the last success, those of later parts, and earlier ones from which packages still run that it left open.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ repositoryIdentifier: RepositoryIdentifier }),
    status: 200,
    response: RunningReleases,
    handle: async ({ query: { repositoryIdentifier } }, { reads }) =>
      runningReleases(reads, await projectInRequest(reads, repositoryIdentifier)),
  }),
];
