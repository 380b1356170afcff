import { useQuery } from '@tanstack/react-query';
import { useAddress } from '../../kernel/data/address.ts';
import { SelectField } from '../../kernel/parts/fields.tsx';
import { Answered, Section } from '../../kernel/parts/page.tsx';
import { Table } from '../../kernel/parts/table.tsx';
import { t } from '../../messages/messages.ts';
import { differences } from './environment-rules.ts';
import { environmentsQuery } from '../../delivery/gates/gates.queries.ts';
import { differenceQuery } from './environments.queries.ts';

const words = t.environments;

/** How this environment differs from another one of its project, which stands in the address. */
export function EnvironmentComparison({ id, repositoryIdentifier }: { id: string; repositoryIdentifier: string }) {
  const [{ with: other = '' }, change] = useAddress();
  const environments = useQuery(environmentsQuery(repositoryIdentifier));
  const others = environments.data?.filter((each) => each.id !== id && each.isActive) ?? [];
  return (
    <Section title={words.compare}>
      <SelectField
        label={words.compare}
        isLabelHidden
        value={other}
        onValue={(value) => change({ with: value || undefined })}
        options={[
          { value: '', label: words.compareNone },
          ...others.map(({ id: value, name: label }) => ({ value, label })),
        ]}
      />
      {other !== '' && <Difference repositoryIdentifier={repositoryIdentifier} from={other} to={id} />}
    </Section>
  );
}

function Difference(sides: { repositoryIdentifier: string; from: string; to: string }) {
  const compared = useQuery(differenceQuery(sides.repositoryIdentifier, sides.from, sides.to));
  return (
    <Answered query={compared} rows={2}>
      {(comparison) => {
        const rows = differences(comparison);
        if (rows.length === 0) return <p>{words.compareSame}</p>;
        return (
          <Table
            caption={words.compare}
            rows={rows}
            keyOf={({ name }) => name}
            columns={[
              { name: words.package, cell: ({ name }) => name },
              { name: words.here, cell: ({ here }) => here ?? words.missing },
              { name: words.there(comparison.left.name), cell: ({ there }) => there ?? words.onlyHere },
            ]}
          />
        );
      }}
    </Answered>
  );
}
