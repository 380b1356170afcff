import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { settingsOfIntegration } from '../../projects/integrations/integrations.queries.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { itemsLocation, type ItemsLocation } from './tracker-location-rules.ts';
import type { TrackerPlatform } from './work-tracker.port.ts';

/** The name that a person has at host-a, by one of the addresses that the service knows. */
const nameAtHostA = ({ db }: Reads, email: string) =>
  db
    .selectFrom('user_identity as i')
    .where('i.provider', '=', 'host-a')
    .where('i.userId', '=', sql<string>`user_of_address(${email})`)
    .select('i.username')
    .executeTakeFirst();

/**
 * An assignee as a tracker knows people: tracker-a and host-b by name or address, host-a by login. `me` is the caller,
 * for an application whom the integration's credential belongs to. Null: nobody at host-a.
 */
export async function assigneeAtTracker(
  reads: Reads,
  platform: TrackerPlatform,
  assignee: string,
  actor: Pick<Actor, 'type' | 'email'>,
): Promise<string | null> {
  if (assignee === 'me' && actor.type !== 'user') return assignee;
  const person = assignee === 'me' ? actor.email : assignee;
  if (platform !== 'host-a' || !person.includes('@')) return person;
  return (await nameAtHostA(reads, person))?.username ?? null;
}

/** Where at a tracker the work items of a project are; undefined where nothing says it. */
export async function locationOfItems(
  reads: Reads,
  platform: TrackerPlatform,
  project: { id: string; identifier: string },
): Promise<ItemsLocation | undefined> {
  const found = await settingsOfIntegration(reads, platform, project.id);
  return itemsLocation(platform, project.identifier, found?.settings ?? {});
}
