import { ProblemError } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { Answered, Section } from '../../kernel/parts/page.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import type { Tone } from '../../kernel/parts/tone.ts';
import { Table } from '../../kernel/parts/table.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import { orgLimitsQuery } from './environments.queries.ts';

const words = t.environments;
const TONES: Record<string, Tone> = { ok: 'good', warning: 'wait', critical: 'bad' };
const SHOWN_MAX = 8;

/** The limits of the environment's org of which most is used. */
export function EnvironmentLimits(place: { repositoryIdentifier: string; environmentName: string }) {
  const limits = useQuery(orgLimitsQuery(place.repositoryIdentifier, place.environmentName));
  // Its org is not registered, or was never asked: there is nothing to say.
  if (limits.error instanceof ProblemError && limits.error.problem.status === 404) return null;
  if (limits.data?.length === 0) return null;
  return (
    <Section title={words.limits}>
      <Answered query={limits} rows={2}>
        {(all) => (
          <Table
            caption={words.limits}
            rows={all.toSorted((a, b) => b.usagePct - a.usagePct).slice(0, SHOWN_MAX)}
            keyOf={({ name }) => name}
            columns={[
              { name: words.limit, cell: ({ name }) => name },
              {
                name: words.used,
                cell: ({ usagePct, used, max, alertLevel }) => (
                  <Status tone={TONES[alertLevel] ?? 'idle'}>
                    {Math.round(usagePct)} % · {used} / {max}
                  </Status>
                ),
              },
              {
                name: words.forecast,
                cell: ({ forecastAt }) => (forecastAt === null ? words.notForecast : <Time at={forecastAt} />),
              },
            ]}
          />
        )}
      </Answered>
    </Section>
  );
}
