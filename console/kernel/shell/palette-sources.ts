import { listReleaseCandidates } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { ask } from '../data/ask.ts';
import { client } from '../data/client.ts';
import { environmentNamesQuery } from '../data/environment-names.ts';
import { useCan } from '../data/me.ts';

export interface Destination {
  to: string;
  name: string;
  hint?: string;
  project: string | undefined;
}

interface Found {
  /** Known without asking. */
  workItem: Destination | undefined;
  destinations: readonly Destination[];
  /** The service has not answered yet what it knows by this text. */
  isAsking: boolean;
}

const ASKED_FROM = 2;
const FOUND_MAX = 6;
/** Who goes on typing within that time is not asked for yet. */
const TYPING_MS = 150;

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

/** The text as it was when the person last paused. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

function useEnvironments(text: string, project: string | undefined): readonly Destination[] {
  const can = useCan();
  const { data, isPlaceholderData } = useQuery({
    ...environmentNamesQuery(project),
    enabled: can('listEnvironments'),
  });
  if (!data || isPlaceholderData || text.length < ASKED_FROM) return [];
  return data
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, FOUND_MAX)
    .map(({ id, name, repositoryIdentifier }) => ({
      to: `/environments/${id}`,
      name,
      hint: t.shell.environmentOf(repositoryIdentifier),
      project: repositoryIdentifier,
    }));
}

/** What the service knows by exactly that text, beside pages and projects. */
export function useFound(text: string, project: string | undefined): Found {
  const can = useCan();
  const paused = usePaused(text);
  const mayAsk = can('listReleaseCandidates') && text.length >= ASKED_FROM;
  const isCurrent = paused === text;
  const { data, isPending } = useQuery({
    ...candidatesByNameQuery(paused, project),
    enabled: mayAsk && isCurrent,
  });
  const environments = useEnvironments(text, project);
  const candidates = (mayAsk && isCurrent ? (data?.items ?? []) : []).map(
    ({ id, releaseName, domain, repositoryIdentifier }) => ({
      to: `/candidates/${id}`,
      name: releaseName,
      hint: t.shell.inProject(domain, repositoryIdentifier),
      project: repositoryIdentifier,
    }),
  );
  const key = text.toUpperCase();
  const isKey = can('locateWorkItem') && WORK_ITEM.test(text);
  return {
    workItem: isKey
      ? { to: `/work-items/${encodeURIComponent(key)}`, name: t.shell.workItem(key), project }
      : undefined,
    destinations: [...environments, ...candidates],
    isAsking: mayAsk && (!isCurrent || isPending),
  };
}
