import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../../kernel/data/address.ts';
import { environmentNamesQuery } from '../../kernel/data/environment-names.ts';
import { useMe } from '../../kernel/data/me.ts';
import { Button } from '../../kernel/parts/button.tsx';
import { SelectField } from '../../kernel/parts/fields.tsx';
import { FilterField } from '../../kernel/parts/filter-field.tsx';
import { Filters } from '../../kernel/parts/page.tsx';
import { runTypesQuery } from './runs.queries.ts';
import styles from './runs.module.css';
import { FILTERS, filtersIn } from './saved-views-rules.ts';

/** On narrower screens filters are folded while none is set, so that the list is seen. */
const WIDE = '(min-width: 40rem)';
const NONE = Object.fromEntries(FILTERS.filter((name) => name !== 'project').map((name) => [name, undefined]));

/** What the list of runs is narrowed to, beside project and status; all of it stands in the address. */
export function RunFilters() {
  const [address, change] = useAddress();
  const { email } = useMe();
  const { data: types = [] } = useQuery(runTypesQuery);
  const { data: environments = [] } = useQuery(environmentNamesQuery(address.project));
  const set = (name: 'type' | 'environment' | 'release' | 'who' | 'since') => (value: string | undefined) =>
    change({ [name]: value || undefined, page: undefined });
  const valueOf = (name: 'type' | 'environment' | 'release' | 'who' | 'since') => address[name] ?? '';
  const periods: Record<string, string> = t.runs.periods;
  const since = valueOf('since');
  const { project: _, ...others } = filtersIn(address);
  const hasFilters = Object.keys(others).some((name) => name !== 'status');
  return (
    <details className={styles.filters} open={hasFilters || matchMedia(WIDE).matches}>
      <summary>{t.parts.filter}</summary>
      <Filters>
        <FilterField
          label={t.runs.type}
          value={valueOf('type')}
          onValue={set('type')}
          offered={types.map(({ id }) => id)}
        />
        <FilterField
          label={t.runs.environment}
          value={valueOf('environment')}
          onValue={set('environment')}
          offered={[...new Set(environments.map(({ name }) => name))]}
        />
        <FilterField label={t.runs.release} value={valueOf('release')} onValue={set('release')} />
        <FilterField label={t.runs.who} value={valueOf('who')} onValue={set('who')} offered={[email, 'cron', 'api']} />
        <SelectField
          label={t.runs.since}
          value={since}
          onValue={set('since')}
          options={[
            ...Object.entries(periods).map(([value, label]) => ({ value, label })),
            ...(since in periods ? [] : [{ value: since, label: since }]),
          ]}
        />
        {Object.keys(others).length > 0 && (
          <Button onClick={() => change({ ...NONE, page: undefined })}>{t.parts.clear}</Button>
        )}
      </Filters>
    </details>
  );
}
