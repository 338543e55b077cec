import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { DatabaseHost, DatabaseTls } from '#core/database-url.ts';
import { stateOf } from './sqlstate.ts';

/** There is no connection to a server because of its TLS. The text is one sentence that says what to change, and has no secret. */
export class DatabaseTlsError extends Error {
	override readonly name = 'DatabaseTlsError';
}

/**
 * Reads the files of a URL for one connection, so that renewed ones are used from the next connection on.
 * @throws DatabaseTlsError
 */
export function tlsOptions({ mode, rootCert, own }: DatabaseTls): ConnectionOptions {
	const shown = own === undefined ? {} : { cert: readPem('sslcert', own.cert), key: readPem('sslkey', own.key) };
	const trusted = rootCert === undefined ? {} : { ca: readAuthorities(rootCert) };
	if (mode === 'verify-full') return { ...shown, ...trusted };
	if (rootCert === undefined) return { ...shown, rejectUnauthorized: false };
	return { ...shown, ...trusted, checkServerIdentity: () => undefined };
}

function readPem(parameter: string, path: string): string {
	try {
		return readFileSync(path, 'utf8');
	} catch (cause) {
		throw new DatabaseTlsError(`${parameter}=${path} cannot be read (${stateOf(cause)})`, { cause });
	}
}

const certificateBlock = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]+-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Node.js takes a file without certificates as if nobody were trusted, and the server would be blamed. */
function readAuthorities(path: string): string[] {
	const blocks = readPem('sslrootcert', path).match(certificateBlock) ?? [];
	try {
		if (blocks.length === 0) throw new Error('there is none');
		for (const block of blocks) new X509Certificate(block);
	} catch (cause) {
		throw new DatabaseTlsError(`sslrootcert=${path} holds no certificate in PEM`, { cause });
	}
	return blocks;
}

/** Codes of OpenSSL for a certificate that does not hold, and those of Node.js around them. */
const ofCertificates =
	/^(?:CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_|PATH_LENGTH_|HOSTNAME_MISMATCH|ERROR_IN_|ERR_TLS_CERT_)/;
/** The server ends the handshake by an alert, or with none. */
const ofHandshakes = /^(?:ERR_SSL_|ERR_OSSL_|EPROTO$)/;
/** The driver has no codes for the answer to its request for TLS. */
const withoutTls = 'The server does not support SSL connections';
/** PostgreSQL, invalid_authorization_specification, and what pg_hba.conf has for connections that are not encrypted. */
const notAdmitted = { state: '28000', text: /no encryption|SSL off/ };

/** Says in one sentence what is wrong with the TLS of a connection, if that is why there is none; otherwise returns the error as it is. */
export function plainTlsError(error: Error, { host, port }: DatabaseHost, tls: DatabaseTls | false | undefined): Error {
	const server = `the database server ${host}:${port}`;
	const told = (text: string) => new DatabaseTlsError(text, { cause: error });
	const code = stateOf(error) ?? '';
	if (code === notAdmitted.state && notAdmitted.text.test(error.message))
		return told(
			`${server} admits no connection without TLS: add sslmode=verify-full to the URL, and sslrootcert if its authority is your own`,
		);
	if (!tls) return error;
	if (error.message === withoutTls) return told(`${server} has no TLS, and the URL asks for it by sslmode=${tls.mode}: set ssl = on there`);
	if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
		return told(`the certificate of ${server} is for another name: connect to a name that it has, or use sslmode=verify-ca`);
	if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
		return told(`the certificate of ${server} ${code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'}`);
	if (ofCertificates.test(code)) {
		const authorities =
			tls.rootCert === undefined
				? 'an authority that Node.js trusts, and the URL has no sslrootcert'
				: `an authority in sslrootcert=${tls.rootCert}`;
		return told(`the certificate of ${server} is not issued by ${authorities} (${code})`);
	}
	if (ofHandshakes.test(code)) {
		const shown =
			tls.own === undefined ? 'the URL names no certificate of its own (sslcert, sslkey)' : `the URL names sslcert=${tls.own.cert}`;
		return told(`there is no TLS connection to ${server} (${code}); ${shown}`);
	}
	return error;
}
