#!/bin/sh
# The command line of an installation: docs/operations.md, "The tarball". Where the caller has set neither DATA_DIR nor DATABASE_URL, it takes the
# variables of the service as ops/systemd/tributary.service has them: those of tributary.env, which may stand in quotes, and the database of database-url.
set -eu
settings=${TRIBUTARY_SETTINGS:-/etc/tributary}

if [ -z "${DATA_DIR-}${DATABASE_URL-}${DATABASE_URL_FILE-}" ] && [ -d "$settings" ]; then
	if [ ! -x "$settings" ]; then
		echo "tributary: $settings cannot be read: run this as the user of the service, or set DATA_DIR and DATABASE_URL" >&2
		exit 2
	fi
	if [ -f "$settings/tributary.env" ]; then
		while IFS= read -r line || [ -n "$line" ]; do
			name=${line%%=*}
			case $line in *=*) ;; *) continue ;; esac
			case $name in '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;; esac
			value=${line#*=}
			case $value in
			\"*\") value=${value#\"} value=${value%\"} ;;
			\'*\') value=${value#\'} value=${value%\'} ;;
			esac
			# What the caller has set counts.
			eval "[ -n \"\${$name+set}\" ]" || export "$name=$value"
		done <"$settings/tributary.env"
	fi
	export DATA_DIR="${DATA_DIR:-/var/lib/tributary}"
	if [ -z "${DATABASE_URL-}${DATABASE_URL_FILE-}" ] && [ -f "$settings/database-url" ]; then
		export DATABASE_URL_FILE="$settings/database-url"
	fi
fi
exec node "$(dirname "$(readlink -f "$0")")/../src/start.mjs" "$@"
