import { listReleaseCandidates } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { ask } from '../data/ask.ts';
import { client } from '../data/client.ts';

export interface Destination {
  to: string;
  name: string;
  hint?: string;
  project: string | undefined;
}

const ASKED_FROM = 2;
const FOUND_MAX = 6;

/** Keys of work items as trackers write them. */
const WORK_ITEM = /^[a-z][a-z0-9_]*-\d+$/i;

const candidatesByNameQuery = (q: string, project: string | undefined) =>
  ask(['candidates', 'named', q, project], (signal) =>
    listReleaseCandidates({
      client,
      signal,
      query: { q, limit: FOUND_MAX, includeFinalized: true, ...(project && { repositoryIdentifier: project }) },
    }),
  );

/** What the service knows by that text, beside pages and projects. */
export function useFound(text: string, project: string | undefined): readonly Destination[] {
  const isAsked = text.length >= ASKED_FROM;
  const { data } = useQuery({ ...candidatesByNameQuery(text, project), enabled: isAsked });
  const candidates = (isAsked ? (data?.items ?? []) : []).map(({ id, releaseName, domain, repositoryIdentifier }) => ({
    to: `/candidates/${id}`,
    name: releaseName,
    hint: t.shell.inProject(domain, repositoryIdentifier),
    project: repositoryIdentifier,
  }));
  const key = text.toUpperCase();
  return WORK_ITEM.test(text)
    ? [{ to: `/work-items/${encodeURIComponent(key)}`, name: t.shell.workItem(key), project }, ...candidates]
    : candidates;
}
