import { Migration } from '@mikro-orm/migrations';

const IDS = `text[] not null default '{}'`;
const ACCOUNT_OF = (email: string) => `array(select id::text from user_account where lower(email) = lower(${email}))`;

/**
 * Who set a run in motion, whatever they used: they may not approve it where nobody may approve their own. Leases of
 * runs that expired keep the lock until the run has ended.
 */
export class GatesThatHold extends Migration {
  override up(): void {
    this.addSql(`
      alter table approval add column requester_ids ${IDS}, add column allow_sole_owner boolean not null default false;
      update approval set requester_ids = array[requester_id];
      alter table application_token add column people_ids ${IDS};
      update application_token set people_ids = ${ACCOUNT_OF('created_by')};
      alter table flow_schedule add column people_ids ${IDS};
      update flow_schedule s set people_ids = ${ACCOUNT_OF('s.created_by')};
      update flow_schedule s set people_ids = array(
        select distinct unnest(t.people_ids) from application_token t
        where t.tenant_id = s.tenant_id and s.created_by = 'app:' || t.name) where s.created_by like 'app:%'`);
    this.addSql(`
      create index environment_lock_lapsed on environment_lock_ticket (tenant_id, environment_id)
        where state = 'expired' and ended_at is null`);
  }
}
