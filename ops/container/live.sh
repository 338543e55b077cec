#!/bin/bash
# Asks the node in this container if it is live. It is the shell's own work, so no Node.js is started; the operations surface speaks plain HTTP.
port=${OPS_PORT:-9464}
exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
printf 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
IFS= read -r -t 3 status <&3 || exit 1
[[ $status == 'HTTP/1.1 200 '* ]]
