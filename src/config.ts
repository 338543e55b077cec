import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isOwnHost, parseRange } from '#core/address.ts';
import { faultOfDatabaseUrl, type SessionAttributes, sessionAttributes } from '#core/database-url.ts';
import { parseKeyValues } from '#core/key-values.ts';
import { readLimits } from '#core/limit-definition.ts';
import { processesMax } from '#core/place.ts';
import { isProviderUrl } from '#core/provider-url.ts';
import { isSecretKey } from '#core/secret-key.ts';
import { type Limits, limitDefinitions } from './limits.ts';

const portNumber = z.coerce.number().int().min(0).max(65_535);
const port = (fallback: number) => portNumber.default(fallback);
/** A port that a node can do without: the plain one of a protocol that has a TLS port as well, or that of a surface that nobody uses. */
const portOrOff = (fallback: number) => z.literal('off').or(portNumber).default(fallback);
const optionalPort = portNumber.optional();
const flagOr = (fallback: 'true' | 'false') =>
	z
		.enum(['true', 'false', '1', '0'])
		.default(fallback)
		.transform((value) => value === 'true' || value === '1');
const flag = flagOr('false');
const list = z
	.string()
	.default('')
	.transform((value) =>
		value
			.split(',')
			.map((entry) => entry.trim())
			.filter((entry) => entry !== ''),
	);
/** Addresses of which each counts for what the variable allows: a text that is none would allow nothing, and look as if it did. */
const addressList = list.refine(
	(ranges) => ranges.every((text) => parseRange(text) !== undefined && text !== '*'),
	'is IP addresses and CIDR ranges',
);

const keyValues = z
	.string()
	.transform((text, context) => {
		const values = parseKeyValues(text);
		if (values === undefined) context.addIssue({ code: 'custom', message: 'is key=value,… with percent-encoded values' });
		return values ?? {};
	})
	.optional();
const collectorUrl = z.url({ protocol: /^https?$/ }).optional();

/** A URL of PostgreSQL with one server or several, whose `target_session_attrs` may be one of these. */
const databaseUrl = (attributes: readonly SessionAttributes[]) =>
	z.string().superRefine((text, context) => {
		const fault = faultOfDatabaseUrl(text, attributes);
		if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
	});

/**
 * Sets how long a request line with its headers may be at most. The HTTP library takes this from the environment when it is loaded, and
 * answers longer ones itself. Every surface has a smaller limit of its own.
 */
export function admitHeads(bytesMax: number): void {
	process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(bytesMax);
}

/** Returns the environment of a process that this one starts, with these variables besides. */
export function environmentOfProcess(besides: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
	return { ...process.env, ...besides };
}

/** True where systemd started this process and waits to be told that it is ready (sd_notify). */
export function hasServiceManager(): boolean {
	return process.env['NOTIFY_SOCKET'] !== undefined;
}

/** The environment, one row a variable. `tributary config` and `docs/configuration.md` are printed from this. */
export const environmentSchema = z.object({
	DATABASE_URL: databaseUrl(['any', 'read-write', 'primary']).optional().meta({
		secret: true,
		description:
			'any PostgreSQL ≥ 15; may name several servers, of which the primary is taken; unset → an embedded PostgreSQL under DATA_DIR, for evaluation',
	}),
	DATABASE_READ_URL: databaseUrl(sessionAttributes)
		.optional()
		.meta({ secret: true, description: 'a read replica for FHIR reads and searches; unset → DATABASE_URL' }),
	DATA_DIR: z
		.string()
		.min(1)
		.default('./var')
		.transform((path) => resolve(path))
		.meta({ description: 'embedded database and spool' }),
	HOST: z.string().min(1).default('127.0.0.1').meta({ description: 'bind address of every surface except admin and operations' }),
	ALLOW_PLAINTEXT: flag.meta({ description: 'allows an HTTP surface without TLS on a non-loopback address' }),
	API_DOCUMENTATION: flagOr('true').meta({ description: 'serves /api/documentation on each HTTP surface' }),
	PUBLIC_METADATA: flag.meta({ description: '/fhir/metadata answers without a key' }),
	FHIR_PORT: port(8080).meta({ description: 'FHIR R4 API' }),
	HL7_PORT: portOrOff(8081).meta({ description: 'HL7 over HTTP; off → no such surface' }),
	MPPS_PORT: portOrOff(8082).meta({ description: 'MPPS over HTTP; off → no such surface' }),
	ADMIN_PORT: port(8083).meta({ description: 'admin API and web console' }),
	ADMIN_HOST: z.string().min(1).default('127.0.0.1').meta({ description: 'bind address of the admin surface' }),
	ADMIN_URL: z
		.url({ protocol: /^https?$/ })
		.refine((url) => new URL(url).pathname === '/' && !/[?#]|\/\/[^/]*@/.test(url), 'is a URL without user, path, query and fragment')
		.transform((url) => url.replace(/\/+$/, ''))
		.optional()
		.meta({
			description:
				'where browsers reach the console, for the way back from the sign-in provider and links of notifications; unset → the listening address',
		}),
	OIDC_ISSUER: z
		.string()
		.refine(isProviderUrl, 'is a URL with https, or with http on this host')
		.optional()
		.meta({ description: 'the OIDC provider by which people sign in to the console; unset → local accounts only' }),
	OIDC_CLIENT_ID: z.string().min(1).optional().meta({ description: 'the id of this service at that provider' }),
	OIDC_CLIENT_SECRET: z.string().min(1).optional().meta({ secret: true, description: 'its secret; a public client has none' }),
	OIDC_GROUPS_CLAIM: z
		.string()
		.min(1)
		.default('groups')
		.meta({ description: "the claim with a person's groups; a path such as realm_access.roles is possible" }),
	OIDC_SCOPE: z
		.string()
		.regex(/^openid(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'begins with openid; scopes are separated by a blank')
		.default('openid email profile')
		.meta({ description: 'the scopes that are asked for' }),
	SECOND_FACTOR_KEY: z.string().refine(isSecretKey, 'is 32 bytes in base64').optional().meta({
		secret: true,
		description: 'encrypts the secrets of second factors; unset → DATA_DIR/second-factor.key; the same on every node',
	}),
	LOCAL_SIGN_IN: z
		.enum(['all', 'administrators'])
		.default('all')
		.meta({ description: 'who signs in with a password; administrators: others sign in by the provider' }),
	OPS_PORT: port(9464).meta({ description: '/metrics, /health/live, /health/ready' }),
	OPS_HOST: z.string().min(1).default('127.0.0.1').meta({ description: 'bind address of the operations surface' }),
	MLLP_PORT: portOrOff(3000).meta({ description: 'HL7 v2 over MLLP, plain; off → no plain port' }),
	MLLP_TLS_PORT: optionalPort.meta({ description: 'HL7 v2 over MLLP, TLS' }),
	OBJECT_STORE_URL: z
		.string()
		.regex(/^(file:\/.*|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w!.*'()/-]*)?)$/, 'is file:<absolute path> or s3://<bucket>[/<prefix>]')
		.optional()
		.meta({ description: 'unset → DATA_DIR/objects; file: and an absolute path; s3://<bucket>[/<prefix>]' }),
	AWS_ENDPOINT_URL_S3: z
		.url({ protocol: /^https?$/ })
		.optional()
		.meta({ description: 'S3 object store other than AWS, addressed path-style; AWS_ENDPOINT_URL does the same' }),
	AWS_ENDPOINT_URL: z
		.url({ protocol: /^https?$/ })
		.optional()
		.meta({ description: 'as AWS_ENDPOINT_URL_S3, which goes before it' }),
	AWS_REGION: z.string().min(1).optional().meta({ description: 'of the bucket; us-east-1 where an endpoint is set' }),
	AWS_ACCESS_KEY_ID: z
		.string()
		.min(1)
		.optional()
		.meta({ description: 'S3 key; unset → what the AWS SDK finds: profile, container, instance' }),
	AWS_SECRET_ACCESS_KEY: z.string().min(1).optional().meta({ secret: true, description: 'its secret' }),
	AWS_SESSION_TOKEN: z.string().min(1).optional().meta({ secret: true, description: 'of temporary credentials' }),
	DIMSE_PORT: portOrOff(11_112).meta({ description: 'DICOM (DIMSE), plain; off → no plain port' }),
	DIMSE_TLS_PORT: optionalPort.meta({ description: 'DICOM (DIMSE), TLS' }),
	DICOM_PRIVATE_CLASSES: flagOr('true').meta({ description: 'instances of SOP classes that are not of DICOM are stored as well' }),
	TLS_CERT_FILE: z.string().min(1).optional().meta({
		description: 'PEM certificate chain; set → the HTTP surfaces speak HTTPS (TLS 1.2 and 1.3). A changed file is used without a restart',
	}),
	TLS_KEY_FILE: z.string().min(1).optional().meta({ description: 'PEM private key' }),
	TLS_CLIENT_CA_FILE: z
		.string()
		.min(1)
		.optional()
		.meta({ description: 'set → client certificates are required on the TLS MLLP and DIMSE ports' }),
	AUDIT_SYSLOG_URL: z
		.url({ protocol: /^tls$/ })
		.optional()
		.meta({ description: 'tls://<host>[:6514]; set → the audit trail is sent there as syslog over TLS (IHE ATNA)' }),
	AUDIT_SYSLOG_CA_FILE: z.string().min(1).optional().meta({ description: 'PEM authorities of that receiver; unset → those of the system' }),
	AUDIT_SYSLOG_CERT_FILE: z.string().min(1).optional().meta({ description: 'PEM certificate that is shown to that receiver' }),
	AUDIT_SYSLOG_KEY_FILE: z.string().min(1).optional().meta({ description: 'its PEM private key' }),
	ALLOW_ANY_SOURCE: flag.meta({
		description: 'an integration client may list *, or a prefix below /8 (IPv4) or /16 (IPv6), as an allowed address',
	}),
	ALLOWED_TARGETS: addressList.meta({
		description:
			'loopback, link-local and cloud metadata addresses that remote AEs, webhooks and issuers may have, as CIDRs; unset → loopback while HOST is loopback, else none',
	}),
	PUBLIC_URL: z
		.url({ protocol: /^https?$/ })
		.refine((url) => !/[?#]|\/\/[^/]*@/.test(url), 'is a URL without user, query and fragment')
		.transform((url) => url.replace(/\/+$/, ''))
		.optional()
		.meta({ description: 'base of absolute links of FHIR and DICOMweb; unset → the listening address' }),
	PUBLIC_HOSTS: list
		.refine(
			(hosts) => hosts.every((host) => /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host)),
			'is host names, each with a port or without',
		)
		.meta({ description: 'host names that a Host header may put into absolute links, each with a port or for every port' }),
	OPERATOR_HOSTS: list
		.refine((names) => names.every((name) => name === '*' || /^\w[\w.-]*$/.test(name)), 'is host names without a port, or *')
		.meta({
			description:
				'further names of console, admin API and /metrics by plain HTTP, beside addresses, localhost and configured names; * → every name',
		}),
	TRUSTED_PROXIES: addressList.meta({ description: 'CIDRs whose X-Forwarded-For (HTTP) and PROXY protocol (MLLP, DIMSE) are believed' }),
	PROCESSES: z.coerce
		.number()
		.int()
		.min(1)
		.max(processesMax)
		.optional()
		.meta({ description: 'processes on the same ports; more than 1 on Linux only; unset → half the cores, at most 16; below 4 cores 1' }),
	WORKERS: z.coerce.number().int().min(1).max(256).optional().meta({
		description:
			'ingest worker threads of all processes together, at least 1 each; unset → cores − 1, and on two cores a second one under load',
	}),
	SMTP_URL: z
		.url({ protocol: /^smtps?$/ })
		.refine((url) => new URL(url).password === '', 'has no password; SMTP_PASSWORD or SMTP_PASSWORD_FILE has it')
		.optional()
		.meta({
			description:
				'the mail server of notifications, smtp://[user@]host[:587] with STARTTLS, or smtps://[user@]host[:465]; unset → no mail',
		}),
	SMTP_PASSWORD: z.string().min(1).optional().meta({ secret: true, description: 'the password of that user; it is sent over TLS only' }),
	SMTP_FROM: z
		.string()
		.regex(/^[^\s@<>]+@[^\s@<>]+$/, 'is an e-mail address')
		.optional()
		.meta({ description: 'the sender of notifications by mail' }),
	NODE_NAME: z
		.string()
		.regex(/^[\w.-]{1,64}$/, 'is 1 to 64 letters, digits, dots, hyphens or underscores')
		.optional()
		.meta({ description: 'the name of this node in alerts and notifications, another one on each node; unset → the host name' }),
	OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl.meta({
		description: 'an OpenTelemetry collector (OTLP over HTTP), to which traces are posted at /v1/traces; unset → nothing is traced',
	}),
	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collectorUrl.meta({ description: 'the whole URL for traces; it goes before the general one' }),
	OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf').default('http/protobuf').meta({ description: 'the only protocol for traces' }),
	OTEL_EXPORTER_OTLP_HEADERS: keyValues.meta({ secret: true, description: 'headers for the collector, as key=value,…' }),
	OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp').meta({ description: 'none: nothing is traced, whatever the endpoint' }),
	OTEL_SERVICE_NAME: z.string().min(1).optional().meta({ description: 'service.name of traces; unset → tributary' }),
	OTEL_RESOURCE_ATTRIBUTES: keyValues.meta({ description: 'attributes of every trace, as key=value,…' }),
	OTEL_TRACES_SAMPLER: z
		.enum(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio', 'always_on', 'always_off', 'traceidratio'])
		.default('parentbased_always_on')
		.meta({ description: 'which requests and messages are traced; parentbased: a traceparent decides for its request' }),
	OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1).meta({ description: 'the part that traceidratio takes' }),
	LOG_LEVEL: z
		.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
		.default('info')
		.meta({ description: 'structured JSON logs on stdout' }),
});

type Environment = z.infer<typeof environmentSchema>;
/** Every secret may stand in a file instead, which container platforms and systemd mount: `DATABASE_URL_FILE` names that of DATABASE_URL. */
export const secretFileOf = (variable: string) => `${variable}_FILE`;

export const secretVariables = Object.entries(environmentSchema.shape).flatMap(([variable, schema]) =>
	(schema.meta() as { secret?: boolean } | undefined)?.secret === true ? [variable] : [],
);

/** `secretFiles`: the files in which secrets stand, by variable. */
export type Config = Readonly<Environment & { limits: Limits; secretFiles: Readonly<Record<string, string>> }>;

/** Names the variable and the reason; the process ends with exit code 2. */
export class ConfigurationError extends Error {
	override readonly name = 'ConfigurationError';
	readonly variable: string;

	constructor(variable: string, reason: string) {
		super(`${variable}: ${reason}`);
		this.variable = variable;
	}
}

function checkProvider(environment: Environment): void {
	const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = environment;
	if ((issuer === undefined) !== (clientId === undefined))
		throw new ConfigurationError(
			issuer ? 'OIDC_CLIENT_ID' : 'OIDC_ISSUER',
			'OIDC_ISSUER and OIDC_CLIENT_ID are set together or not at all',
		);
	if (issuer === undefined && environment.LOCAL_SIGN_IN === 'administrators')
		throw new ConfigurationError('LOCAL_SIGN_IN', 'administrators needs OIDC_ISSUER: others could not sign in');
}

function checkMail(environment: Environment): void {
	const { SMTP_URL: url, SMTP_FROM: from } = environment;
	if ((url === undefined) !== (from === undefined))
		throw new ConfigurationError(url ? 'SMTP_FROM' : 'SMTP_URL', 'SMTP_URL and SMTP_FROM are set together or not at all');
	const signsIn = url !== undefined && new URL(url).username !== '';
	if (signsIn !== (environment.SMTP_PASSWORD !== undefined))
		throw new ConfigurationError('SMTP_PASSWORD', 'a user in SMTP_URL and SMTP_PASSWORD are set together or not at all');
}

function checkTogether(environment: Environment): void {
	const tls = environment.TLS_CERT_FILE !== undefined;
	if (tls !== (environment.TLS_KEY_FILE !== undefined)) {
		throw new ConfigurationError(tls ? 'TLS_KEY_FILE' : 'TLS_CERT_FILE', 'TLS_CERT_FILE and TLS_KEY_FILE are set together or not at all');
	}
	checkProvider(environment);
	checkMail(environment);
	const hasKeyId = environment.AWS_ACCESS_KEY_ID !== undefined;
	if (environment.OBJECT_STORE_URL?.startsWith('s3:') && hasKeyId !== (environment.AWS_SECRET_ACCESS_KEY !== undefined)) {
		const missing = hasKeyId ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID';
		throw new ConfigurationError(missing, 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set together or not at all');
	}
	for (const variable of ['MLLP_TLS_PORT', 'DIMSE_TLS_PORT'] as const) {
		if (environment[variable] !== undefined && !tls) throw new ConfigurationError(variable, 'needs TLS_CERT_FILE and TLS_KEY_FILE');
	}
	for (const variable of ['HOST', 'ADMIN_HOST'] as const) {
		if (tls || isOwnHost(environment[variable]) || environment.TRUSTED_PROXIES.length > 0 || environment.ALLOW_PLAINTEXT) continue;
		throw new ConfigurationError(variable, 'a non-loopback address without TLS and without TRUSTED_PROXIES needs ALLOW_PLAINTEXT=true');
	}
}

/** @throws ConfigurationError for the first variable that is wrong */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
	const secretFiles = secretFilesIn(environment);
	const whole = { ...environment, ...secretsIn(secretFiles, environment) };
	const given = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== ''));
	const parsed = environmentSchema.safeParse(given);
	if (!parsed.success) {
		const issue = parsed.error.issues[0];
		throw new ConfigurationError(String(issue?.path[0] ?? 'environment'), issue?.message ?? 'invalid');
	}
	checkTogether(parsed.data);
	const limits = readLimits(limitDefinitions, environment, (variable, reason) => {
		throw new ConfigurationError(variable, reason);
	});
	return Object.freeze({ ...parsed.data, limits, secretFiles });
}

/** Returns how people sign in by an OIDC provider; undefined without a provider. */
export function signInProviderOf(config: Config) {
	const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config;
	const { OIDC_GROUPS_CLAIM: groupsClaim, OIDC_SCOPE: scope } = config;
	if (issuer === undefined || clientId === undefined) return undefined;
	return { issuer, clientId, clientSecret, groupsClaim, scope };
}

/** The name of the node, as alerts tell it. */
export function nodeNameOf({ NODE_NAME: name }: Pick<Config, 'NODE_NAME'>): string {
	return name ?? hostname();
}

/** Returns the mail server of notifications; undefined without one. */
export function mailOf({ SMTP_URL: url, SMTP_FROM: from, SMTP_PASSWORD: password }: Config) {
	if (url === undefined || from === undefined) return undefined;
	const { protocol, hostname: name, port, username } = new URL(url);
	const secure = protocol === 'smtps:';
	const host = name.replace(/^\[|\]$/g, '');
	return { host, port: port === '' ? (secure ? 465 : 587) : Number(port), secure, user: decodeURIComponent(username), password, from };
}

function secretFilesIn(environment: NodeJS.ProcessEnv): Record<string, string> {
	const files = secretVariables.map(secretFileOf).map((file) => [file, environment[file] ?? '']);
	return Object.fromEntries(files.filter(([, path]) => path !== ''));
}

/**
 * Returns the secrets that stand in files.
 * @throws ConfigurationError when a file cannot be read, or the secret is given twice
 */
function secretsIn(files: Readonly<Record<string, string>>, environment: NodeJS.ProcessEnv): Record<string, string> {
	const secrets: Record<string, string> = {};
	for (const variable of secretVariables) {
		const file = secretFileOf(variable);
		const path = files[file];
		if (path === undefined) continue;
		if ((environment[variable] ?? '') !== '') throw new ConfigurationError(file, `${variable} is set, too`);
		secrets[variable] = secretIn(file, path);
	}
	return secrets;
}

function secretIn(variable: string, path: string): string {
	let text: string;
	try {
		text = readFileSync(path, 'utf8').trim();
	} catch (error) {
		throw new ConfigurationError(variable, `the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
	}
	if (text === '') throw new ConfigurationError(variable, 'the file is empty');
	return text;
}
