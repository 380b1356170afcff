-- A run without a project has a token that reaches the run alone.
create or replace function current_run() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.run_id', true), '')::uuid;
