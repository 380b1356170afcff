import type { ListEnvironmentsResponses } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useAddress } from '../../kernel/data/address.ts';
import { Checkbox, SelectField } from '../../kernel/parts/fields.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Answered, Empty, Filters, Page } from '../../kernel/parts/page.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { type Column, Table } from '../../kernel/parts/table.tsx';
import { t } from '../../messages/messages.ts';
import { environmentsQuery, SHOWN_MAX } from './environments.queries.ts';

type Environment = ListEnvironmentsResponses[200][number];

const COLUMNS: readonly Column<Environment>[] = [
  {
    name: t.environments.name,
    cell: ({ id, name, repositoryIdentifier }) => (
      <PageLink to={`/environments/${id}`} search={{ project: repositoryIdentifier }}>
        {name}
      </PageLink>
    ),
  },
  { name: t.environments.project, cell: ({ repositoryIdentifier }) => repositoryIdentifier },
  { name: t.environments.category, cell: ({ category }) => t.environments.categories[category], isNarrow: true },
  { name: t.environments.org, cell: ({ orgUsername }) => orgUsername ?? t.environments.noOrg },
  { name: t.environments.state, cell: (environment) => <EnvironmentState environment={environment} /> },
];

/** Whether an environment is free, locked or not in use. */
export function EnvironmentState({
  environment: { isActive, lockStatus },
}: {
  environment: Pick<Environment, 'isActive' | 'lockStatus'>;
}) {
  if (!isActive) return <Status tone="idle">{t.environments.inactive}</Status>;
  if (!lockStatus.isLocked) return <Status tone="good">{t.environments.free}</Status>;
  const { heldBy, reason } = lockStatus;
  return (
    <Status tone="wait" title={reason ?? undefined}>
      {heldBy === null ? t.environments.locked : t.environments.lockedBy(heldBy)}
    </Status>
  );
}

/** All environments, of all projects or of one. */
export function EnvironmentsPage() {
  const [{ project, category, locked }, change] = useAddress();
  const isNarrowed = Boolean(project || category || locked === 'true');
  const environments = useQuery(environmentsQuery({ project, category, isLocked: locked === 'true' }));
  return (
    <Page title={t.environments.title} asked={[environments]}>
      <Filters>
        <SelectField
          label={t.environments.category}
          value={category ?? ''}
          onValue={(value) => change({ category: value || undefined })}
          options={[
            { value: '', label: t.environments.allCategories },
            ...Object.entries(t.environments.categories).map(([value, label]) => ({ value, label })),
          ]}
        />
        <Checkbox
          label={t.environments.onlyLocked}
          isChecked={locked === 'true'}
          onChecked={(isChecked) => change({ locked: isChecked ? 'true' : undefined })}
        />
      </Filters>
      <Answered query={environments}>
        {(shown) =>
          shown.length === 0 && isNarrowed ? (
            <Empty title={t.environments.noMatch} />
          ) : shown.length === 0 ? (
            <Empty title={t.environments.none}>
              <p>{t.environments.noneHint}</p>
              <code>{t.environments.noneCommand}</code>
            </Empty>
          ) : (
            <>
              <Table caption={t.environments.title} columns={COLUMNS} rows={shown} keyOf={({ id }) => id} />
              {shown.length === SHOWN_MAX && (
                <p>{project ? t.environments.truncatedInProject(SHOWN_MAX) : t.environments.truncated(SHOWN_MAX)}</p>
              )}
            </>
          )
        }
      </Answered>
    </Page>
  );
}
