-- A plan that was made while the table was empty would read all rows.
create or replace function waiting_metric_windows() returns table (tenant_id uuid, windows int)
  language sql stable security definer set search_path = public, pg_temp set enable_seqscan = off as $$
  select w.tenant_id, count(*)::int from metric_window w where not w.is_sent group by w.tenant_id $$;
revoke all on function waiting_metric_windows() from public;
grant execute on function waiting_metric_windows() to :app_role;
