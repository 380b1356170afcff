import { dataOf, getReleaseMatrix, listApprovals, listReleaseCandidateDomains } from '@quayside/client';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

export interface MatrixFilters {
  repositoryIdentifier: string;
  q: string | undefined;
  includeSuperseded: boolean;
  /** Undefined: all environments. */
  environments: readonly string[] | undefined;
}

const TOPICS = [
  'approval',
  'environment',
  'environment_lock',
  'flow_run',
  'release_candidate',
  'release_deployment',
] as const;

interface MatrixPage {
  domain?: string | undefined;
  cursor?: string | undefined;
}

const matrixPage = (
  { repositoryIdentifier, q, includeSuperseded, environments }: MatrixFilters,
  page: MatrixPage,
  signal: AbortSignal,
) =>
  getReleaseMatrix({
    client,
    signal,
    query: {
      repositoryIdentifier,
      ...(q && { q }),
      ...(includeSuperseded && { includeSuperseded }),
      ...(environments && { environments: [...environments] }),
      ...(page.domain !== undefined && { domain: page.domain }),
      ...(page.cursor !== undefined && { cursor: page.cursor }),
    },
  });

/** A page of the matrix, of one domain or of all. */
export const matrixQuery = (
  { repositoryIdentifier, q, includeSuperseded, environments }: MatrixFilters,
  page: MatrixPage = {},
) => {
  const filters = { repositoryIdentifier, q, includeSuperseded, environments };
  return ask(['matrix', filters, page], (signal) => matrixPage(filters, page, signal), {
    topics: TOPICS,
    isList: true,
  });
};

/** Pages that are looked through for a release whose name is a part of others. */
const PAGES_MAX = 20;

/** The matrix with the page that has a candidate, whatever else has its name in it; else the last page. */
export const matrixOfCandidateQuery = (filters: MatrixFilters, domain: string, candidateId: string) => ({
  ...ask(
    ['matrix', 'of', candidateId, filters],
    async (signal) => {
      const pageAt = (cursor?: string) => dataOf(matrixPage(filters, { domain, cursor }, signal));
      let data = await pageAt();
      for (let page = 1; page < PAGES_MAX && data.nextCursor !== null; page += 1) {
        if (data.rows.some((row) => row.candidateId === candidateId)) break;
        data = await pageAt(data.nextCursor);
      }
      return { data, error: undefined };
    },
    { topics: TOPICS, isList: true },
  ),
  placeholderData: undefined,
});

export const domainsQuery = (repositoryIdentifier: string) =>
  ask(
    ['domains', repositoryIdentifier],
    (signal) => listReleaseCandidateDomains({ client, signal, query: { repositoryIdentifier } }),
    { topics: ['release_candidate'], isList: true },
  );

const APPROVALS_MAX = 100;

/** Approvals of the project that wait for a person. */
export const openApprovalsQuery = (repositoryIdentifier: string) =>
  ask(
    ['approvals', 'open', repositoryIdentifier],
    (signal) => listApprovals({ client, signal, query: { repositoryIdentifier, limit: APPROVALS_MAX } }),
    { topics: ['approval'], isList: true },
  );
