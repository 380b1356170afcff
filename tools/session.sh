# Signs in to the service that `npm start` runs on this machine. Read it into a shell, in the folder of the repository:
#
#     . tools/session.sh
#
#   call METHOD PATH [BODY]   sends a request as the first owner, and prints the reply
#   field NAME                prints a member of the JSON that it reads: `id`, `items/0/id`
#   BASE, OWNER, TOKEN        the address of the service, the e-mail of the first owner, and the access token (an hour)
#
# DATA_DIR names the folder of the service (.data). For a service elsewhere set BASE, and EMAIL and PASSWORD.

DATA_DIR=${DATA_DIR:-.data}
if [ -z "${BASE:-}" ]; then
  BASE=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$DATA_DIR/instance.json" 2>/dev/null)
  if [ -z "$BASE" ]; then
    echo "No service runs on $DATA_DIR: start it with npm start, or set DATA_DIR or BASE." >&2
    return 1
  fi
fi

field() {
  node -e '
    const text = require("fs").readFileSync(0, "utf8");
    const value = process.argv[1].split("/").reduce((found, name) => found?.[name], JSON.parse(text));
    if (value === undefined) { console.error(text.trim().slice(0, 1000)); process.exit(1); }
    console.log(typeof value === "string" ? value : JSON.stringify(value));' "$1"
}

call() {
  _method=$1 _path=$2
  shift 2
  [ $# -eq 0 ] || set -- --data "$1"
  # On a terminal the reply is laid out; a program gets it as it is.
  curl -sS -w '\n' -X "$_method" "$BASE$_path" -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' "$@" |
    if [ -t 1 ]; then
      node -e '
        const text = require("fs").readFileSync(0, "utf8");
        try { console.log(JSON.stringify(JSON.parse(text), null, 2)); } catch { process.stdout.write(text); }'
    else
      cat
    fi
}

if [ -n "${EMAIL:-}" ]; then
  _owner=$(node -p 'JSON.stringify({ email: process.argv[1], password: process.argv[2] })' "$EMAIL" "$PASSWORD")
else
  _owner=$(cat "$DATA_DIR/owner.json") || return 1
fi
OWNER=$(printf '%s\n' "$_owner" | sed -n 's/.*"email": *"\([^"]*\)".*/\1/p')
_reply=$(curl -sS "$BASE/api/auth/admin/login" -H 'content-type: application/json' --data "$_owner") || return 1
unset _owner
case $_reply in
*'"access_token":"'*)
  TOKEN=${_reply#*'"access_token":"'}
  TOKEN=${TOKEN%%'"'*}
  echo "Signed in at $BASE as $OWNER"
  ;;
*)
  echo "Not signed in: $_reply" >&2
  return 1
  ;;
esac
