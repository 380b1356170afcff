import type { Environment, ReleaseCandidate } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { useAddress, useProject } from '../../kernel/data/address.ts';
import { projectsQuery } from '../../kernel/data/projects.ts';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { SelectField } from '../../kernel/parts/fields.tsx';
import { Answered, Empty, Filters, Page } from '../../kernel/parts/page.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { runningQuery } from '../../projects/environments/environments.queries.ts';
import { candidateQuery } from '../candidates/candidates.queries.ts';
import { sidesQuery } from '../changes/sides.queries.ts';
import { environmentsQuery } from '../gates/gates.queries.ts';
import { Comparison } from './comparison.tsx';
import { candidateOf, environmentOf } from './hotfix-rules.ts';
import { candidatesOfProjectQuery } from './hotfix.queries.ts';
import styles from './hotfix.module.css';

/** What does production have that the next release lacks? */
export function HotfixPage() {
  const chosen = useProject();
  const projects = useQuery(projectsQuery);
  const identifiers = projects.data?.items.map(({ identifier }) => identifier) ?? [];
  const project = chosen ?? (identifiers.length === 1 ? identifiers[0] : undefined);
  if (project !== undefined) return <OfProject key={project} project={project} />;
  return (
    <Page title={t.hotfix.title} asked={[projects]}>
      <Answered query={projects}>{() => <ChooseProject identifiers={identifiers} />}</Answered>
    </Page>
  );
}

const ChooseProject = ({ identifiers }: { identifiers: readonly string[] }) => (
  <Empty title={identifiers.length === 0 ? t.hotfix.noProjects : t.hotfix.project}>
    <p>{t.hotfix.projectHint}</p>
    <ul className={styles.projects}>
      {identifiers.map((identifier) => (
        <li key={identifier}>
          <PageLink to="." search={{ project: identifier }}>
            {identifier}
          </PageLink>
        </li>
      ))}
    </ul>
  </Empty>
);

function OfProject({ project }: { project: string }) {
  const environments = useQuery(environmentsQuery(project));
  const candidates = useQuery(candidatesOfProjectQuery(project));
  return (
    <Page title={t.hotfix.title} asked={[environments, candidates]}>
      <p className={styles.question}>{t.hotfix.question}</p>
      <Answered query={environments}>
        {(places) => (
          <Answered query={candidates}>
            {({ items }) => <Sides project={project} environments={places} candidates={items} />}
          </Answered>
        )}
      </Answered>
    </Page>
  );
}

interface SidesProps {
  project: string;
  environments: readonly Environment[];
  candidates: readonly ReleaseCandidate[];
}

/** Which two are compared: both stand in the address, and what is not chosen is the last environment and the next release. */
function Sides({ project, environments, candidates }: SidesProps) {
  const [address] = useAddress();
  const running = useQuery(runningQuery(project));
  const wanted = address.candidate;
  const isListed = wanted === undefined || candidates.some(({ id }) => id === wanted);
  const older = useQuery({ ...candidateQuery(wanted ?? ''), enabled: !isListed });
  const offered = older.data && !isListed ? [older.data, ...candidates] : candidates;
  if (environments.length === 0) return <Empty title={t.hotfix.noEnvironment}>{t.hotfix.noEnvironmentHint}</Empty>;
  if (offered.length === 0) return <Empty title={t.hotfix.noCandidate}>{t.hotfix.noCandidateHint}</Empty>;
  if (!isListed && older.data === undefined) return <Answered query={older}>{() => null}</Answered>;
  return (
    <Answered query={running}>
      {(releases) => {
        const environment = environmentOf(environments, address.environment, releases);
        const at = { environmentName: environment?.name ?? '', running: releases };
        const candidate = candidateOf(offered, wanted, at);
        if (!environment || !candidate) return null;
        const pair = { environment, candidate };
        return (
          <>
            <Choice environments={environments} candidates={offered} {...pair} />
            <Compared project={project} {...pair} />
          </>
        );
      }}
    </Answered>
  );
}

interface Pair {
  environment: Environment;
  candidate: ReleaseCandidate;
}

function Choice({ environments, candidates, environment, candidate }: Omit<SidesProps, 'project'> & Pair) {
  const [, change] = useAddress();
  return (
    <Filters>
      <SelectField
        label={t.hotfix.environment}
        value={environment.name}
        onValue={(value) => change({ environment: value })}
        options={environments.map(({ name }) => ({ value: name, label: name }))}
      />
      <SelectField
        label={t.hotfix.candidate}
        value={candidate.id}
        onValue={(value) => change({ candidate: value })}
        options={candidates.map(({ id, releaseName, domain }) => ({
          value: id,
          label: t.hotfix.candidateOf(releaseName, domain),
        }))}
      />
    </Filters>
  );
}

function Compared({ project, environment, candidate }: Pair & { project: string }) {
  const comparison = useQuery(sidesQuery(project, candidate.id, environment.id));
  const path = `/api/releases/compare?${new URLSearchParams({
    repositoryIdentifier: project,
    left: `candidate:${candidate.id}`,
    right: `environment:${environment.id}`,
    includeChangelog: 'true',
  })}`;
  return (
    <>
      <Answered query={comparison}>{(compared) => <Comparison compared={compared} />}</Answered>
      <CopyAs method="GET" path={path} command={commandOf('api', 'GET', path)} />
    </>
  );
}
