import type { WorkItemPlaces } from '@quayside/client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { t } from '../../messages/messages.ts';
import { useProject } from '../../kernel/data/address.ts';
import { projectsQuery } from '../../kernel/data/projects.ts';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { ForeignLink } from '../../kernel/parts/foreign-link.tsx';
import { Answered, Empty, Failed, Loading, Page } from '../../kernel/parts/page.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { useNow } from '../../kernel/parts/time.tsx';
import styles from './work-item.module.css';
import { Commits } from './work-item-commits.tsx';
import { DomainPlaces } from './work-item-domain.tsx';
import { whereItIs } from './work-item-rules.ts';
import { sentenceOf } from './work-item-sentence.ts';
import { workItemQuery } from './work-item.queries.ts';

/** More projects are not asked for a key at once. */
const ASKED_MAX = 12;

/** Where is a work item, and what lacks it? Without a project, in all of them. */
export function WorkItemPage() {
  const { key = '' } = useParams({ strict: false });
  const project = useProject();
  return project === undefined ? (
    <InProjects key={key} workItem={key} />
  ) : (
    <InProject project={project} workItem={key} />
  );
}

interface WorkItemProps {
  workItem: string;
}

function InProject({ project, workItem }: WorkItemProps & { project: string }) {
  const places = useQuery(workItemQuery(project, workItem));
  return (
    <Page
      title={t.workItems.where(workItem)}
      asked={[places]}
      actions={<Again project={project} workItem={workItem} />}
    >
      <Answered query={places}>
        {(found) => (found.totalCommits === 0 ? <Unknown places={found} /> : <Places places={found} />)}
      </Answered>
    </Page>
  );
}

const Again = ({ project, workItem }: WorkItemProps & { project: string }) => {
  const path = `/api/releases/work-items/${encodeURIComponent(workItem)}?repositoryIdentifier=${encodeURIComponent(project)}`;
  return <CopyAs method="GET" path={path} command={commandOf('api', 'GET', path)} />;
};

function InProjects({ workItem }: WorkItemProps) {
  const { data: projects, error, refetch, isFetching } = useQuery(projectsQuery);
  const identifiers = (projects?.items ?? []).slice(0, ASKED_MAX).map(({ identifier }) => identifier);
  const asked = useQueries({ queries: identifiers.map((identifier) => workItemQuery(identifier, workItem)) });
  const found = asked.flatMap(({ data }, index) =>
    data && data.totalCommits > 0 ? [{ places: data, project: identifiers[index] ?? '' }] : [],
  );
  const failed = asked.find((query) => query.error !== null && query.data === undefined);
  const isAsking = projects === undefined || asked.some(({ isPending }) => isPending);
  const first = asked[0]?.data;
  return (
    <Page title={t.workItems.where(workItem)} asked={asked}>
      {error && !projects && <Failed error={error} onAgain={() => void refetch()} isAsking={isFetching} />}
      {failed?.error && (
        <Failed error={failed.error} onAgain={() => void failed.refetch()} isAsking={failed.isFetching} />
      )}
      {found.map(({ places, project }) => (
        <section key={project} aria-label={project} className={styles.project}>
          <PageLink to="." search={{ project }}>
            {project}
          </PageLink>
          <Places places={places} />
        </section>
      ))}
      {isAsking && !error && <Loading />}
      {!isAsking && found.length === 0 && !failed && first && <Unknown places={first} />}
      {projects && projects.total > ASKED_MAX && <Note>{t.workItems.chooseHint(ASKED_MAX)}</Note>}
    </Page>
  );
}

const Unknown = ({ places }: { places: WorkItemPlaces }) => (
  <>
    <Empty title={t.workItems.unknown(places.key)}>
      <p>{t.workItems.unknownHint}</p>
      <PageLink to="/work-items">{t.parts.search}</PageLink>
    </Empty>
    <Freshness repository={places.repository} />
  </>
);

/** How far the answer can be trusted. */
function Freshness({ repository: { fetchedAt, isStale, error } }: Pick<WorkItemPlaces, 'repository'>) {
  if (error !== null) return <Note>{t.workItems.staleWhy(error)}</Note>;
  if (fetchedAt === null) return <Note>{t.workItems.neverFetched}</Note>;
  return isStale ? <Note>{t.workItems.stale}</Note> : null;
}

function Places({ places }: { places: WorkItemPlaces }) {
  const now = useNow();
  return (
    <div className={styles.places}>
      <p className={styles.sentence}>{sentenceOf(places.key, whereItIs(places), now)}</p>
      {places.url !== null && <ForeignLink href={places.url}>{t.workItems.open}</ForeignLink>}
      <Freshness repository={places.repository} />
      {places.domains.map((domain) => (
        <DomainPlaces key={domain.domain} domain={domain} />
      ))}
      {places.packagesWithoutDomain.length > 0 && (
        <Note>{t.workItems.withoutDomain(places.packagesWithoutDomain)}</Note>
      )}
      <Commits places={places} />
    </div>
  );
}
