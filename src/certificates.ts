import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Log } from '#core/log.ts';
import { type Stoppable, systemTimers } from '#core/timers.ts';
import { type Config, ConfigurationError } from './config.ts';
import type { Metrics } from './metrics.ts';

/** The certificate of the node, and the authorities that issue certificates of clients. */
export interface TlsIdentity {
	/** PEM. */
	cert: Buffer | string;
	key: Buffer | string;
	clientCa?: Buffer | string;
}

type Files = Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'TLS_CLIENT_CA_FILE'>;
type AuditFiles = Pick<Config, 'AUDIT_SYSLOG_CA_FILE' | 'AUDIT_SYSLOG_CERT_FILE' | 'AUDIT_SYSLOG_KEY_FILE'>;
type Variable = keyof Files | keyof AuditFiles;

const variables: readonly (keyof Files)[] = ['TLS_CERT_FILE', 'TLS_KEY_FILE', 'TLS_CLIENT_CA_FILE'];
const pem = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** The files are looked at this often. */
const everyMs = 10_000;

function contentOf(variable: Variable, path: string): Buffer;
function contentOf(variable: Variable, path: string | undefined): Buffer | undefined;
function contentOf(variable: Variable, path: string | undefined): Buffer | undefined {
	if (path === undefined) return undefined;
	try {
		return readFileSync(path);
	} catch (error) {
		throw new ConfigurationError(variable, `the file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
	}
}

function certificatesIn(variable: Variable, content: Buffer, nowMs: number): X509Certificate[] {
	const texts = content.toString('latin1').match(pem) ?? [];
	if (texts.length === 0) throw new ConfigurationError(variable, 'the file has no certificate in PEM');
	return texts.map((text) => {
		let certificate: X509Certificate;
		try {
			certificate = new X509Certificate(text);
		} catch {
			throw new ConfigurationError(variable, 'the file has a certificate that cannot be read');
		}
		const day = (time: string) => new Date(time).toISOString().slice(0, 10);
		if (Date.parse(certificate.validTo) <= nowMs)
			throw new ConfigurationError(variable, `a certificate expired on ${day(certificate.validTo)}`);
		if (Date.parse(certificate.validFrom) > nowMs)
			throw new ConfigurationError(variable, `a certificate is not valid before ${day(certificate.validFrom)}`);
		return certificate;
	});
}

function keyIn(content: Buffer): KeyObject {
	try {
		return createPrivateKey(content);
	} catch {
		throw new ConfigurationError('TLS_KEY_FILE', 'the file has no private key in PEM that can be read without a passphrase');
	}
}

interface ReadFiles {
	identity: TlsIdentity;
	/** The time at which the first certificate of each file expires. */
	expiryMs: { file: 'certificate' | 'client-ca'; atMs: number }[];
}

/**
 * Reads the files of the TLS variables; undefined without a certificate of the node. The authorities of clients are read all the same:
 * whoever names them relies on them.
 * @throws ConfigurationError for the first file that a client could not be served with
 */
export function readCertificates(files: Files, nowMs: number): ReadFiles | undefined {
	const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_CLIENT_CA_FILE: caFile } = files;
	const clientCa = contentOf('TLS_CLIENT_CA_FILE', caFile);
	const authorities = clientCa && certificatesIn('TLS_CLIENT_CA_FILE', clientCa, nowMs);
	if (certFile === undefined || keyFile === undefined) return undefined;
	const cert = contentOf('TLS_CERT_FILE', certFile);
	const chain = certificatesIn('TLS_CERT_FILE', cert, nowMs);
	const key = contentOf('TLS_KEY_FILE', keyFile);
	if (chain[0]?.checkPrivateKey(keyIn(key)) !== true)
		throw new ConfigurationError('TLS_KEY_FILE', 'the key is not that of the first certificate in TLS_CERT_FILE');
	const expiry = (file: 'certificate' | 'client-ca', certificates: readonly X509Certificate[]) => ({
		file,
		atMs: Math.min(...certificates.map(({ validTo }) => Date.parse(validTo))),
	});
	const identity: TlsIdentity = { cert, key, ...(clientCa && { clientCa }) };
	return { identity, expiryMs: [expiry('certificate', chain), ...(authorities ? [expiry('client-ca', authorities)] : [])] };
}

/**
 * Reads the TLS files of the receiver of the audit trail, each that is named.
 * @throws ConfigurationError for the first that cannot be read
 */
export function readAuditFiles(files: AuditFiles): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
	const ca = contentOf('AUDIT_SYSLOG_CA_FILE', files.AUDIT_SYSLOG_CA_FILE);
	const cert = contentOf('AUDIT_SYSLOG_CERT_FILE', files.AUDIT_SYSLOG_CERT_FILE);
	const key = contentOf('AUDIT_SYSLOG_KEY_FILE', files.AUDIT_SYSLOG_KEY_FILE);
	return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

/** The part of the certificates that surfaces use. */
export interface Certificates {
	/** Undefined without TLS. */
	readonly identity: TlsIdentity | undefined;
	/** Registers what is done with new certificates. */
	onRenewal(take: () => void): void;
}

/**
 * Watches the files, so that renewed certificates are used without a restart. Files that cannot be used are left alone, and the log and a
 * metric tell so: a certificate and its key are rarely replaced in one moment.
 */
export class WatchedCertificates implements Certificates {
	readonly #files: Files;
	readonly #log: Log;
	readonly #metrics: Pick<Metrics, 'tlsRemaining' | 'tlsRenewals'>;
	readonly #takers: (() => void)[] = [];
	readonly #timer: Stoppable;
	#read: ReadFiles | undefined;
	#seen: string;

	/** @throws ConfigurationError */
	constructor(files: Files, { log, metrics }: { log: Log; metrics: Pick<Metrics, 'tlsRemaining' | 'tlsRenewals'> }) {
		this.#files = files;
		this.#log = log;
		this.#metrics = metrics;
		this.#seen = this.#states();
		this.#read = readCertificates(files, Date.now());
		this.#measure();
		this.#timer = systemTimers.every(everyMs, () => this.renew());
	}

	get identity(): TlsIdentity | undefined {
		return this.#read?.identity;
	}

	onRenewal(take: () => void): void {
		this.#takers.push(take);
	}

	/** Takes the files over if they have changed. */
	renew(): void {
		if (this.#read === undefined) return;
		this.#measure();
		const states = this.#states();
		if (states === this.#seen) return;
		this.#seen = states;
		try {
			this.#read = readCertificates(this.#files, Date.now());
		} catch (error) {
			if (!(error instanceof ConfigurationError)) throw error;
			this.#metrics.tlsRenewals.inc({ outcome: 'refused' });
			this.#log.error({ reason: error.message }, 'the new TLS files cannot be used; the previous certificates stay in use');
			return;
		}
		this.#measure();
		for (const take of this.#takers) take();
		this.#metrics.tlsRenewals.inc({ outcome: 'taken' });
		this.#log.info('the new TLS files are in use; open connections go on with the previous certificates');
	}

	close(): void {
		this.#timer.stop();
	}

	/** Follows links, as the secrets of Kubernetes are. */
	#states(): string {
		return variables
			.map((variable) => {
				const path = this.#files[variable];
				const state = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
				return state === undefined ? '' : `${state.ino} ${state.size} ${state.mtimeMs}`;
			})
			.join('|');
	}

	#measure(): void {
		for (const { file, atMs } of this.#read?.expiryMs ?? []) this.#metrics.tlsRemaining.set({ file }, (atMs - Date.now()) / 1000);
	}
}
