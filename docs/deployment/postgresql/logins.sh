#!/usr/bin/env bash
# Makes the logins when the data directory is made: none of them is a superuser, and the service owns nothing.
set -euo pipefail

secret() { cat "/run/secrets/$1"; }

psql --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set=owner="$(secret owner_password)" --set=service="$(secret service_password)" \
  --set=browsers="$(secret browsers_password)" --set=temporal="$(secret temporal_password)" <<'SQL'
create role quayside_owner login createrole password :'owner';
create role quayside_service login password :'service';
create role quayside_browsers login password :'browsers';
create role temporal login createdb password :'temporal';
create database quayside owner quayside_owner;
revoke connect, temporary on database quayside from public;
grant connect on database quayside to quayside_service, quayside_browsers;
SQL
