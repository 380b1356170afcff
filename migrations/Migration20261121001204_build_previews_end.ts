import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE } from './fences.ts';

/** Previews that nobody asked for within thirty days are removed; asked for again they are computed again. */
export class BuildPreviewsEnd extends Migration {
  override up(): void {
    this.addSql(`
      create index build_preview_age on build_preview (requested_at);
      create function purge_build_previews() returns int language sql volatile security definer set search_path = public, pg_temp as $$
        with removed as (
          delete from build_preview where ctid = any (array(
            select ctid from build_preview where requested_at < now() - interval '30 days' limit 10000)) returning 1)
        select count(*)::int from removed $$;
      revoke all on function purge_build_previews() from public;
      grant execute on function purge_build_previews() to ${SYSTEM_ROLE}`);
  }
}
