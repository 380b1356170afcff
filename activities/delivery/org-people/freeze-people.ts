import { Context } from '@temporalio/activity';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import {
  NOBODY,
  outcomeOfPeople,
  type PersonOutcome,
  type PersonResult,
  planFreeze,
  selectionOf,
} from '../../../domain/delivery/org-people/freeze-rules.ts';
import { sessionsOf } from '../../../domain/delivery/org-people/people-soql-rules.ts';
import { refusalText } from '../../../domain/delivery/org-people/privilege-rules.ts';
import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import { RECORDS_PER_CALL } from '../../../domain/orgs/crm/crm-records.port.ts';
import type { CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { Operation } from '../flows/operations.activities.ts';
import { actInOrg, keepLines } from '../org-steps/act-in-org.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { loginsById, protectedUsersOf, rowsOf, selectedUsers } from './org-users.ts';

/** What a run shows of people in its result; all of them are in its output. */
const PEOPLE_SHOWN = 500;

/** Freezes people in an org: they cannot sign in any more, and keep their licences. Repeated, it does what is left. */
export const freezePeople: Operation = (...given) => changeLogins(true, ...given);

/** Lets people sign in again who were frozen. */
export const unfreezePeople: Operation = (...given) => changeLogins(false, ...given);

function changeLogins(isFreeze: boolean, ...[deps, tenant, run]: Parameters<Operation>): ReturnType<Operation> {
  let progress: object = { step: 'people' };
  const selection = selectionOf(run.payload);
  if (!selection) return Promise.resolve({ status: 'failed', error: NOBODY });
  return withHeartbeat(
    (signal) =>
      actInOrg(deps, tenant, run, { signal }, async ({ username: orgUsername, calls }) => {
        const protectedUsers = await protectedUsersOf(calls);
        const users = await selectedUsers(calls, selection);
        const logins = await loginsById(
          calls,
          users.map(({ id }) => id),
        );
        // Only what is tried again can find what it did itself.
        const isRepeated = Context.current().info.attempt > 1 || run.status === 'waiting_org_calls';
        const since = isRepeated && run.startedAt !== null ? isoOf(run.startedAt) : undefined;
        const { change, results } = planFreeze({ selection, users, logins, protectedUsers, isFreeze, since });
        const all: PersonResult[] = [...results];
        for (const part of partsOf(change, RECORDS_PER_CALL)) {
          progress = {
            step: isFreeze ? 'freeze' : 'unfreeze',
            done: all.length,
            people: results.length + change.length,
          };
          signal.throwIfAborted();
          const records = part.map(({ login }) => ({ Id: login.id, IsFrozen: isFreeze }));
          const written = answered(await calls.updateRecords({ type: 'UserLogin', records }));
          for (const [index, { user }] of part.entries()) {
            const errors = written[index]?.errors ?? [];
            const outcome: PersonOutcome = errors.length > 0 ? 'failed' : isFreeze ? 'frozen' : 'unfrozen';
            all.push({ username: user.username, outcome, ...(errors.length > 0 && { reason: refusalText(errors) }) });
          }
        }
        const isFrozen = ({ outcome }: PersonResult) => outcome === 'frozen' || outcome === 'was_frozen';
        const frozen = new Set(all.filter(isFrozen).map(({ username }) => username));
        const sessionsEnded =
          isFreeze && run.payload.endSessions === true
            ? await endSessions(
                calls,
                users.filter(({ username }) => frozen.has(username)).map(({ id }) => id),
              )
            : undefined;
        const kept = await keepLines(deps, tenant, run.id, all.map(lineOf));
        const more = { orgUsername, ...(sessionsEnded !== undefined && { sessionsEnded }), ...kept };
        return outcomeOf(all, { isEverybody: selection.allExcept !== undefined, more });
      }),
    () => progress,
  );
}

/** Freezing does not end sessions that are open (help: users_freeze). Answers how many ended. */
async function endSessions(calls: CrmOrg, userIds: readonly string[]): Promise<number> {
  let ended = 0;
  for (const part of partsOf(userIds, RECORDS_PER_CALL / 2)) {
    const ids = (await rowsOf(calls, [sessionsOf(part)])).map(({ Id: id }) => String(id));
    for (const some of partsOf(ids, RECORDS_PER_CALL))
      ended += answered(await calls.deleteRecords(some)).filter(({ errors }) => errors.length === 0).length;
  }
  return ended;
}

const lineOf = ({ username, outcome, reason }: PersonResult): string =>
  `${outcome.replaceAll('_', ' ')}: ${username}${reason === undefined ? '' : ` (${reason})`}`;

function outcomeOf(
  people: readonly PersonResult[],
  { isEverybody, more }: { isEverybody: boolean; more: object },
): RunOutcome {
  const status = outcomeOfPeople(people, { isEverybody });
  const counts: Partial<Record<PersonOutcome, number>> = {};
  for (const { outcome } of people) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const unusual = people.filter(({ reason }) => reason !== undefined);
  const shown = [...unusual, ...people.filter(({ reason }) => reason === undefined)].slice(0, PEOPLE_SHOWN);
  const result = { counts, people: shown, ...more };
  if (status === 'succeeded') return { status, result };
  const first = unusual.slice(0, 3).map(({ username, reason }) => `${username}: ${reason}`);
  const others = unusual.length > 3 ? `; and ${unusual.length - 3} more` : '';
  return {
    status,
    error: `Not done for ${unusual.length} of ${people.length} people: ${first.join('; ')}${others}`,
    result,
  };
}
