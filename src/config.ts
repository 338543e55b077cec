import { resolve } from 'node:path';
import { z } from 'zod';
import { readLimits } from '#core/limit-definition.ts';
import { processesMax } from '#core/place.ts';
import { type Limits, limitDefinitions } from './limits.ts';

const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const optionalPort = z.coerce.number().int().min(0).max(65_535).optional();
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

/** The environment, one row a variable. `tributary config` and `docs/configuration.md` are printed from this. */
export const environmentSchema = z.object({
	DATABASE_URL: z
		.url({ protocol: /^postgres(ql)?$/ })
		.optional()
		.meta({ secret: true, description: 'any PostgreSQL ≥ 15; unset → an embedded PostgreSQL under DATA_DIR, for evaluation' }),
	DATABASE_READ_URL: z
		.url({ protocol: /^postgres(ql)?$/ })
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
	HL7_PORT: port(8081).meta({ description: 'HL7 over HTTP' }),
	MPPS_PORT: port(8082).meta({ description: 'MPPS over HTTP' }),
	ADMIN_PORT: port(8083).meta({ description: 'admin API and web console' }),
	ADMIN_HOST: z.string().min(1).default('127.0.0.1').meta({ description: 'bind address of the admin surface' }),
	OPS_PORT: port(9464).meta({ description: '/metrics, /health/live, /health/ready' }),
	OPS_HOST: z.string().min(1).default('127.0.0.1').meta({ description: 'bind address of the operations surface' }),
	MLLP_PORT: port(3000).meta({ description: 'HL7 v2 over MLLP, plain' }),
	MLLP_TLS_PORT: optionalPort.meta({ description: 'HL7 v2 over MLLP, TLS' }),
	OBJECT_STORE_URL: z
		.string()
		.regex(/^(file:.+|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w!.*'()/-]*)?)$/, 'is file:<absolute path> or s3://<bucket>[/<prefix>]')
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
	DIMSE_PORT: port(11_112).meta({ description: 'DICOM (DIMSE), plain' }),
	DIMSE_TLS_PORT: optionalPort.meta({ description: 'DICOM (DIMSE), TLS' }),
	DICOM_PRIVATE_CLASSES: flagOr('true').meta({ description: 'instances of SOP classes that are not of DICOM are stored as well' }),
	TLS_CERT_FILE: z.string().min(1).optional().meta({ description: 'PEM certificate chain; set → the HTTP surfaces speak HTTPS' }),
	TLS_KEY_FILE: z.string().min(1).optional().meta({ description: 'PEM private key' }),
	TLS_CLIENT_CA_FILE: z
		.string()
		.min(1)
		.optional()
		.meta({ description: 'set → client certificates are required on the TLS MLLP and DIMSE ports' }),
	ALLOW_ANY_SOURCE: flag.meta({
		description: 'an integration client may list *, or a prefix below /8 (IPv4) or /16 (IPv6), as an allowed address',
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
	TRUSTED_PROXIES: list.meta({ description: 'CIDRs whose X-Forwarded-For (HTTP) and PROXY protocol (MLLP, DIMSE) are believed' }),
	PROCESSES: z.coerce
		.number()
		.int()
		.min(1)
		.max(processesMax)
		.optional()
		.meta({ description: 'processes on the same ports; more than 1 on Linux only; unset → half the cores, at most 16; below 4 cores 1' }),
	WORKERS: z.coerce
		.number()
		.int()
		.min(1)
		.max(256)
		.optional()
		.meta({ description: 'ingest worker threads of all processes together, at least 1 each; unset → cores − 1' }),
	LOG_LEVEL: z
		.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
		.default('info')
		.meta({ description: 'structured JSON logs on stdout' }),
});

type Environment = z.infer<typeof environmentSchema>;
export type Config = Readonly<Environment & { limits: Limits }>;

/** Names the variable and the reason; the process ends with exit code 2. */
export class ConfigurationError extends Error {
	override readonly name = 'ConfigurationError';
	readonly variable: string;

	constructor(variable: string, reason: string) {
		super(`${variable}: ${reason}`);
		this.variable = variable;
	}
}

const loopback = /^(127\.|::1$|localhost$)/;

function checkTogether(environment: Environment): void {
	const tls = environment.TLS_CERT_FILE !== undefined;
	if (tls !== (environment.TLS_KEY_FILE !== undefined)) {
		throw new ConfigurationError(tls ? 'TLS_KEY_FILE' : 'TLS_CERT_FILE', 'TLS_CERT_FILE and TLS_KEY_FILE are set together or not at all');
	}
	const hasKeyId = environment.AWS_ACCESS_KEY_ID !== undefined;
	if (environment.OBJECT_STORE_URL?.startsWith('s3:') && hasKeyId !== (environment.AWS_SECRET_ACCESS_KEY !== undefined)) {
		const missing = hasKeyId ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID';
		throw new ConfigurationError(missing, 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set together or not at all');
	}
	for (const variable of ['MLLP_TLS_PORT', 'DIMSE_TLS_PORT'] as const) {
		if (environment[variable] !== undefined && !tls) throw new ConfigurationError(variable, 'needs TLS_CERT_FILE and TLS_KEY_FILE');
	}
	for (const variable of ['HOST', 'ADMIN_HOST'] as const) {
		if (tls || loopback.test(environment[variable]) || environment.TRUSTED_PROXIES.length > 0 || environment.ALLOW_PLAINTEXT) continue;
		throw new ConfigurationError(variable, 'a non-loopback address without TLS and without TRUSTED_PROXIES needs ALLOW_PLAINTEXT=true');
	}
}

/** @throws ConfigurationError for the first variable that is wrong */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
	const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
	const parsed = environmentSchema.safeParse(given);
	if (!parsed.success) {
		const issue = parsed.error.issues[0];
		throw new ConfigurationError(String(issue?.path[0] ?? 'environment'), issue?.message ?? 'invalid');
	}
	checkTogether(parsed.data);
	const limits = readLimits(limitDefinitions, environment, (variable, reason) => {
		throw new ConfigurationError(variable, reason);
	});
	return Object.freeze({ ...parsed.data, limits });
}
