create or replace aggregate jsonb_overlaid (jsonb) (sfunc = jsonb_concat, stype = jsonb, initcond = '{}',
  parallel = safe);
