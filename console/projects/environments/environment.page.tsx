import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { BASE_PATH } from '../../kernel/data/client.ts';
import { buttonClass } from '../../kernel/parts/button.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Answered, Facts, Page, Section } from '../../kernel/parts/page.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { Table } from '../../kernel/parts/table.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import { EnvironmentComparison } from './environment-comparison.tsx';
import { EnvironmentHistory } from './environment-history.tsx';
import { EnvironmentLimits } from './environment-limits.tsx';
import { EnvironmentLock } from './environment-lock.tsx';
import { EnvironmentPolicy } from './environment-policy.tsx';
import { EnvironmentState } from './environments.page.tsx';
import { environmentQuery, runningQuery } from './environments.queries.ts';

/** What runs here and since when, who holds it, when something may go here, and what happened. */
export function EnvironmentPage() {
  const { id = '' } = useParams({ strict: false });
  const environment = useQuery(environmentQuery(id));
  const { data } = environment;
  return (
    <Page
      title={data?.name ?? t.environments.name}
      aside={data && <EnvironmentState environment={data} />}
      asked={[environment]}
      actions={data?.orgUsername && <OpenOrg username={data.orgUsername} />}
    >
      <Answered query={environment}>
        {(shown) => (
          <>
            {shown.policyViolations.length > 0 && (
              <Section title={t.environments.violations(shown.policyViolations.length)}>
                <Note tone="bad">
                  {shown.policyViolations.map(({ code, domain, releaseName, detail }) => (
                    <p key={`${code} ${domain} ${releaseName}`}>
                      {releaseName} ({domain}): {detail}
                    </p>
                  ))}
                </Note>
              </Section>
            )}
            <Section title={t.environments.running}>
              <Running repositoryIdentifier={shown.repositoryIdentifier} environmentName={shown.name} />
            </Section>
            <EnvironmentLock id={id} name={shown.name} repositoryIdentifier={shown.repositoryIdentifier} />
            <Section title={t.environments.policy}>
              <EnvironmentPolicy environment={shown} />
            </Section>
            <EnvironmentComparison id={id} repositoryIdentifier={shown.repositoryIdentifier} />
            {shown.orgUsername !== null && (
              <EnvironmentLimits repositoryIdentifier={shown.repositoryIdentifier} environmentName={shown.name} />
            )}
            <EnvironmentHistory id={id} />
            <Facts
              facts={[
                [t.environments.project, shown.repositoryIdentifier],
                [t.environments.category, t.environments.categories[shown.category]],
                [t.environments.org, shown.orgUsername ?? t.environments.noOrg],
                [t.environments.branch, shown.branch === '**' ? t.environments.everyBranch : shown.branch],
              ]}
            />
          </>
        )}
      </Answered>
    </Page>
  );
}

/** Signed in to the org by the service, in another tab. */
const OpenOrg = ({ username }: { username: string }) => (
  <a
    className={buttonClass()}
    href={`${BASE_PATH}/api/auth/crm/frontdoor?${new URLSearchParams({ target: username })}`}
    target="_blank"
    rel="noreferrer"
  >
    {t.environments.openOrg}
  </a>
);

function Running({ repositoryIdentifier, environmentName }: { repositoryIdentifier: string; environmentName: string }) {
  const running = useQuery(runningQuery(repositoryIdentifier));
  return (
    <Answered query={running} rows={2}>
      {(all) => {
        const here = all.filter(({ environment }) => environment === environmentName);
        if (here.length === 0) return <p>{t.environments.nothingRuns}</p>;
        return (
          <Table
            caption={t.environments.running}
            rows={here}
            keyOf={({ domain, releaseName }) => `${domain} ${releaseName}`}
            columns={[
              { name: t.environments.domain, cell: ({ domain }) => domain },
              {
                name: t.environments.release,
                cell: ({ domain, releaseName }) => (
                  <PageLink to="/where" search={{ project: repositoryIdentifier, domain, q: releaseName }}>
                    {releaseName}
                  </PageLink>
                ),
              },
              { name: t.environments.since, cell: ({ since }) => <Time at={since} />, isNarrow: true },
              { name: t.environments.by, cell: ({ by }) => by ?? t.parts.unknown },
            ]}
          />
        );
      }}
    </Answered>
  );
}
