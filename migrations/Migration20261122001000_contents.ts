import { Migration } from '@mikro-orm/migrations';

/**
 * Each candidate has a digest of its content, and each deployment keeps that of the content that it deployed, with the
 * packages that it installed.
 */
export class Contents extends Migration {
  override up(): void {
    this.addSql(`
      create function release_content_digest(commit_sha text, definition jsonb) returns text
        language sql immutable parallel safe as $$
          -- RFC 8785: members in order, no spaces.
          select encode(sha256(convert_to('{"artifacts":{' || coalesce((
              select string_agg(to_json(key)::text || ':' || to_json(value)::text, ',' order by key collate "C")
              from jsonb_each_text(case jsonb_typeof(definition -> 'artifacts') when 'object' then definition -> 'artifacts' else '{}' end)
            ), '') || '},"commitSha":' || to_json(lower(commit_sha)) || '}', 'UTF8')), 'hex') $$`);
    // By a trigger, so that processes of the version before keep it, too.
    this.addSql(`
      alter table release_candidate add column content_digest text not null default '';
      create function digest_release_content() returns trigger language plpgsql as $$
        begin
          new.content_digest := release_content_digest(new.commit_sha, new.value);
          return new;
        end $$;
      create trigger digested before insert or update of commit_sha, value on release_candidate
        for each row execute function digest_release_content();
      update release_candidate set value = value`);

    this.addSql(`
      alter table release_deployment
        add column content_digest text,
        add column installed jsonb not null default '{}',
        add column installs_all boolean not null default false`);
    // Deployments that were stored without: they count with the present content of their candidate, unless their packages
    // or the commit that they name show another.
    this.addSql(`
      create function fill_deployed_content() returns trigger language plpgsql as $$
        declare
          artifacts jsonb := '{}';
          digest text := 'unknown';
          commit text;
          told text := coalesce(new.metadata ->> 'commitSha', new.release_definition ->> 'commitSha');
          failed text[];
        begin
          select case jsonb_typeof(c.value -> 'artifacts') when 'object' then c.value -> 'artifacts' else '{}' end, c.content_digest, c.commit_sha
          into artifacts, digest, commit
          from release_candidate c where c.tenant_id = new.tenant_id and c.id = new.candidate_id;
          artifacts := coalesce(artifacts, '{}');
          select coalesce(array_agg(d ->> 'name'), '{}') into failed from jsonb_array_elements(new.package_details) d
          where coalesce(d ->> 'error', '') <> '' or d ->> 'status' ~* '^(fail|error)';
          new.content_digest := case
            when commit is null or not artifacts @> new.packages then 'unknown'
            when told ~* '^[0-9a-f]{7,64}$' and not (commit like lower(told) || '%' or lower(told) like commit || '%') then 'unknown'
            else digest end;
          new.installed := case
            when new.status = 'Success' then new.packages - failed
            when new.status <> 'Partial' then '{}'
            -- Packages that were not named were stored as all those of the candidate.
            when artifacts @> new.packages and artifacts <> new.packages then new.packages
            else coalesce((
              select jsonb_object_agg(d ->> 'name', coalesce(d ->> 'version', artifacts ->> (d ->> 'name')))
              from jsonb_array_elements(new.package_details) d
              where d ->> 'name' <> all (failed) and coalesce(d ->> 'version', artifacts ->> (d ->> 'name')) is not null
                and (lower(d ->> 'status') in ('success', 'succeeded', 'installed', 'deployed')
                  or (d -> 'skipped' = 'true' and d ->> 'version' is not null))), '{}') end;
          new.installs_all := new.status = 'Success' and cardinality(failed) = 0
            and (new.content_digest = 'unknown' or new.installed @> artifacts);
          return new;
        end $$;
      create trigger filled before insert or update on release_deployment
        for each row when (new.content_digest is null) execute function fill_deployed_content();
      update release_deployment set content_digest = null`);
  }
}
