import { sql } from 'kysely';
import { connectDatabase } from '../../domain/kernel/data/database.ts';
import { asOperatorError, operatorAccess, operatorDatabaseUrl } from '../operator-database.ts';
import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import type { DemoCrm, DemoOrg } from './crm-simulator.ts';
import type { DemoReceiver } from './receiver.ts';
import { waitFor } from './wait.ts';

type Say = (text: string) => void;

interface Limit {
  name: string;
  used: number;
  max: number;
  usagePct: number;
  alertLevel: string;
  forecastAt: string | null;
}
interface Summary {
  orgUsername: string;
  status: string;
  lastPolledAt: string | null;
}
interface Dashboard {
  meta: { refreshError: string | null };
  timeSeries: { limitName: string; dataPoints: { usagePct: number }[] }[];
  snapshot: Limit[];
}

const LIMIT = 'DailyApiRequests';
export const LIMIT_EVENT = 'org_limit.warning';
/** Calls of the day: at the first poll, and at the second. */
export const USED_AT_FIRST = 61_000;
const USED_THEN = 78_500;
/** Polls that the demo makes up, each before the next by so much time and by so many calls. */
const MADE_UP = { count: 8, everyMinutes: 15, calls: 5_000 };
const FIRST_POLL_MS = 60_000;
const DELIVERY_MS = 15_000;

/**
 * Lets the calls of an org climb: to a warning, which arrives as a signed webhook, and a forecast. An org is polled at
 * most once a minute and a forecast takes six polls, so that earlier polls are written to the database, if it is at hand.
 */
export async function showLimits(
  api: DemoClient,
  { crm, org, repositoryIdentifier }: { crm: DemoCrm; org: DemoOrg; repositoryIdentifier: string },
  receiver: DemoReceiver,
  say: Say,
): Promise<void> {
  const summaries = await waitFor(
    async () =>
      (await api.get(
        `/api/observability/limits/summary?${new URLSearchParams({ repositoryIdentifier })}`,
      )) as unknown as Summary[],
    (all) => all.length > 0 && all.every(({ lastPolledAt }) => lastPolledAt !== null),
    FIRST_POLL_MS,
  );
  if (!summaries) throw new OperatorError('The orgs were not polled in time.');
  for (const { orgUsername, status } of summaries) say(`limits of ${orgUsername} polled: ${status}`);
  const madeUp = await makeUpPolls(org);
  say(madeUp);
  await crm.setLimit(org, LIMIT, USED_THEN);
  const { meta, timeSeries, snapshot } = (await api.get(
    `/api/observability/limits/dashboard?${new URLSearchParams({ org: org.username, range: 'last_7_days', forceRefresh: 'true' })}`,
  )) as unknown as Dashboard;
  if (meta.refreshError !== null) throw new OperatorError(`The org could not be polled: ${meta.refreshError}`);
  const points = timeSeries.find(({ limitName }) => limitName === LIMIT)?.dataPoints ?? [];
  say(`  ${LIMIT}, per cent: ${points.map(({ usagePct }) => usagePct.toFixed(0)).join(', ')}`);
  const limit = snapshot.find(({ name }) => name === LIMIT);
  if (!limit) throw new OperatorError(`The org has no limit ${LIMIT}.`);
  say(`  ${sentence(limit)}`);
  const events = await waitFor(
    () => Promise.resolve(receiver.received(LIMIT_EVENT)),
    (received) => received.length > 0,
    DELIVERY_MS,
  );
  const [event] = events ?? [];
  if (!event) throw new OperatorError(`The webhook ${LIMIT_EVENT} did not come in time.`);
  const { limitName, usagePct, previousLevel } = event.data;
  say(
    `received ${LIMIT_EVENT}, signature good, ${event.delayMs} ms after the event: ${String(limitName)} at ${String(usagePct)} per cent, ${String(previousLevel)} before`,
  );
}

const sentence = ({ used, max, usagePct, alertLevel, forecastAt }: Limit): string =>
  `${used} of ${max} used, ${usagePct} per cent: ${alertLevel}; ${forecastAt === null ? 'no forecast' : `used up at ${forecastAt} if it goes on so`}`;

/** Writes samples of the last hours, as if the org had been polled then. Answers what to say of it. */
async function makeUpPolls({ username }: DemoOrg): Promise<string> {
  let url: string;
  try {
    url = operatorDatabaseUrl(process.env);
  } catch {
    return 'a forecast takes six polls, of which there is one: no forecast yet';
  }
  const { db, close } = connectDatabase({ ...operatorAccess(url), poolSize: 1 }, () => undefined);
  const { count, everyMinutes, calls } = MADE_UP;
  try {
    await sql`
      insert into org_limit_sample (tenant_id, org_id, sampled_at, used, max)
      select s.tenant_id, s.org_id, s.polled_at - made_up.before * make_interval(mins => ${everyMinutes}::int),
        array(
          select case when l.value->>'name' = ${LIMIT} then greatest(0, (l.value->>'used')::bigint - made_up.before * ${calls}::int)
            else (l.value->>'used')::bigint end
          from jsonb_array_elements(s.limits) with ordinality l (value, place) order by l.place),
        array(select (l.value->>'max')::bigint from jsonb_array_elements(s.limits) with ordinality l (value, place) order by l.place)
      from org_limit_state s
      join crm_org o on o.tenant_id = s.tenant_id and o.id = s.org_id
      cross join generate_series(1, ${count}::int) made_up (before)
      where lower(o.username) = lower(${username})
      on conflict do nothing`.execute(db);
  } catch (error) {
    throw asOperatorError(error, url, process.env);
  } finally {
    await close();
  }
  return `  made up by the demo, so that nobody waits for hours: ${count} polls before, ${everyMinutes} minutes apart`;
}
