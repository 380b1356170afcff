#!/bin/sh
# A whole release, as a team's own script would take it: candidate, uat under the lock, production with an approval.
set -eu

quayside candidate create "$RELEASE" --domain core --commit "$COMMIT" --branch main --artifact app=1.4.0
quayside candidate show "$RELEASE" --json | grep -q '"status":"pending"'

quayside lock run uat --reason "release $RELEASE" -- sh -c 'echo deployed to uat'
quayside deployment report "$RELEASE" --domain core --environment uat --status Success

quayside release request "$RELEASE" --domain core --environment production --dry-run
run=$(quayside release request "$RELEASE" --domain core --environment production)
# The same step again gets the same run.
[ "$run" = "$(quayside release request "$RELEASE" --domain core --environment production)" ]

quayside approval wait "$run" >approved.txt &
waiting=$!
until QUAYSIDE_TOKEN=$APPROVER quayside approval approve "$run" --comment 'tests are green' 2>refused.txt; do
  [ "$(cat refused.txt)" = "Nothing asks for approval under $run" ]
  sleep 0.2
done
wait "$waiting"
grep -q approved approved.txt

quayside run wait "$run"
quayside release notes "$RELEASE" | grep '^### app 1.4.0'
quayside candidate list --status finalized | grep "$RELEASE"
