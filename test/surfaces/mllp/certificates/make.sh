#!/bin/sh
# Makes the certificates of the MLLP tests anew.
set -eu
cd "$(dirname "$0")"
days=36500
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days $days -subj "/CN=Tributary test $1" -keyout "$1.key.pem" -out "$1.cert.pem"
}
issue() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1.test" -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -keyout "$1.key.pem" -out "$1.csr"
	openssl x509 -req -in "$1.csr" -CA "$2.cert.pem" -CAkey "$2.key.pem" -days $days -copy_extensions copy -out "$1.cert.pem"
	rm "$1.csr"
}
authority authority
authority stranger
issue server authority
issue client authority
issue stranger-client stranger
rm authority.key.pem stranger.key.pem stranger.cert.pem
