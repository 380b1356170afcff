import type { Environment } from '@quayside/client';
import { useAddress } from '../../kernel/data/address.ts';
import { Checkbox, SelectField, TextField } from '../../kernel/parts/fields.tsx';
import { Menu } from '../../kernel/parts/menu.tsx';
import { Filters } from '../../kernel/parts/page.tsx';
import { t } from '../../messages/messages.ts';
import { listText, textsOf } from './matrix-rules.ts';
import styles from './where.module.css';

interface WhereFiltersProps {
  domains: readonly string[];
  environments: readonly Pick<Environment, 'id' | 'name' | 'isActive'>[];
}

/** What the matrix is narrowed to; all of it stands in the address. */
export function WhereFilters({ domains, environments }: WhereFiltersProps) {
  const [{ q = '', domain = '', superseded, envs }, change] = useAddress();
  const chosen = textsOf(envs);
  return (
    <Filters>
      <TextField
        label={t.where.q}
        type="search"
        value={q}
        onValue={(value) => change({ q: value || undefined })}
        maxLength={255}
      />
      <SelectField
        label={t.where.domain}
        value={domain}
        onValue={(value) => change({ domain: value || undefined })}
        options={[
          { value: '', label: t.where.allDomains },
          ...[...new Set([...domains, ...(domain ? [domain] : [])])].map((value) => ({ value, label: value })),
        ]}
      />
      <Menu label={chosen.length === 0 ? t.where.allEnvironments : t.where.someEnvironments(chosen.length)}>
        <div className={styles.choices}>
          {environments
            .filter(({ isActive }) => isActive)
            .map(({ id, name }) => (
              <Checkbox
                key={id}
                label={name}
                isChecked={chosen.includes(name)}
                onChecked={(isChecked) =>
                  change({ envs: listText(isChecked ? [...chosen, name] : chosen.filter((each) => each !== name)) })
                }
              />
            ))}
        </div>
        {chosen.length > 0 && (
          <button type="button" onClick={() => change({ envs: undefined })}>
            {t.where.allEnvironments}
          </button>
        )}
      </Menu>
      <Checkbox
        label={t.where.superseded}
        isChecked={superseded === 'true'}
        onChecked={(isChecked) => change({ superseded: isChecked ? 'true' : undefined })}
      />
    </Filters>
  );
}
