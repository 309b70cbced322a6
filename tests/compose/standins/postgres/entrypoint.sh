#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What of the official image's entrypoint compose.yaml leans on: POSTGRES_USER, _PASSWORD (or
# _PASSWORD_FILE), _DB, and postgres run as its own user.
set -euo pipefail

if [ "${1:-}" != postgres ]; then exec "$@"; fi
if [ "$(id -u)" -eq 0 ]; then
	mkdir -p "$PGDATA"
	chown -R postgres:postgres "$PGDATA"
	chmod 700 "$PGDATA"
	exec setpriv --reuid=postgres --regid=postgres --init-groups bash "$0" "$@"
fi
if [ -s "$PGDATA/PG_VERSION" ]; then exec "$@"; fi

user=${POSTGRES_USER:-postgres}
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then POSTGRES_PASSWORD=$(<"$POSTGRES_PASSWORD_FILE"); fi
if [ -z "${POSTGRES_PASSWORD:-}" ]; then
	echo "Error: Database is uninitialized and superuser password is not specified." >&2
	exit 1
fi
initdb --username="$user" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") --auth-local=trust \
	--auth-host=scram-sha-256
echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
if [ "${POSTGRES_DB:-$user}" != postgres ]; then
	echo "CREATE DATABASE \"${POSTGRES_DB:-$user}\"" |
		postgres --single -D "$PGDATA" postgres >/dev/null
fi
exec "$@"
