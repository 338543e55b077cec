#!/bin/bash
# Asks the node in this container if it is live. It is the shell's own work: a Node.js is started only where the surface speaks TLS.
port=${OPS_PORT:-9464}
if [ -n "${TLS_CERT_FILE:-}" ]; then
	exec node -e 'require("node:https").get({ host: "127.0.0.1", port: process.argv[1], path: "/health/live", rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on("error", () => process.exit(1))' "$port"
fi
exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
printf 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
IFS= read -r -t 3 status <&3 || exit 1
[[ $status == 'HTTP/1.1 200 '* ]]
