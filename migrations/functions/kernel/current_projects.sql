create or replace function current_projects() returns uuid[] language sql stable parallel safe
  return nullif(current_setting('app.project_ids', true), '')::uuid[];
