import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE } from './fences.ts';

/** Assignments and orgs of pools that ended long ago are removed. */
export class EndedReviews extends Migration {
  override up(): void {
    this.addSql(`
      create index review_assignment_ended on review_assignment (ended_at) where ended_at is not null;
      create index review_instance_ended on review_instance (state_changed_at) where state in ('expired', 'failed');
      create function purge_reviews(days int) returns int language sql volatile security definer
        set search_path = public, pg_temp as $$
        with assignments as (
          delete from review_assignment where ctid = any (array(
            select ctid from review_assignment
            where ended_at < now() - make_interval(days => days) and state in ('released', 'expired', 'failed')
            limit 5000)) returning 1),
        orgs as (
          delete from review_instance where ctid = any (array(
            select ctid from review_instance
            where state_changed_at < now() - make_interval(days => days) and state in ('expired', 'failed')
            limit 5000)) returning 1)
        select (select count(*) from assignments)::int + (select count(*) from orgs)::int $$;
      revoke all on function purge_reviews(int) from public;
      grant execute on function purge_reviews(int) to ${SYSTEM_ROLE}`);
  }
}
