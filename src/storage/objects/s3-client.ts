import type { S3, S3ClientConfig, S3ServiceException } from '@aws-sdk/client-s3';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';

/** The access to the bucket. The AWS SDK looks for missing values itself: shared files, roles of a container or an instance. */
export interface S3Access {
	/** Undefined means AWS. */
	endpoint: string | undefined;
	region: string | undefined;
	credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined } | undefined;
	/** OBJECT_STORE_MS_MAX: a request on whose connection nothing moves for so long is ended. */
	answerMsMax: number;
	/** OBJECT_STORE_ATTEMPTS_MAX: so many times a request is sent. */
	attemptsMax: number;
	/** Undefined: what the SDK has to say is dropped. */
	log?: Pick<Log, 'warn'> | undefined;
	/** Is called when a request is sent again. */
	retried?: (() => void) | undefined;
}

type Logger = NonNullable<S3ClientConfig['logger']>;

/** A store that works accepts a connection much sooner. */
const connectMs = 5000;
/** More requests than this wait for a connection in the client; none is refused. */
const socketsMax = 256;

/** The SDK writes to the console unless it has a logger. Its lines of the lower levels have keys and headers of objects. */
function loggerOf(log: S3Access['log']): Logger {
	const ignored = () => undefined;
	const told = (text: unknown) => {
		log?.warn({ sdk: typeof text === 'string' ? text : undefined }, 'the client of the object store complains');
	};
	return { trace: ignored, debug: ignored, info: ignored, warn: told, error: told };
}

/** The SDK tells which attempt a request is: `attempt=2; max=3`. It repeats no streamed request; `s3-upload` does that. */
function countRetries(client: S3, retried: () => void): void {
	client.middlewareStack.add(
		(next) => (args) => {
			const { headers = {} } = args.request as { headers?: Readonly<Record<string, string>> };
			if (/^attempt=(?!1;)/.test(headers['amz-sdk-request'] ?? '')) retried();
			return next(args);
		},
		{ step: 'finalizeRequest', priority: 'low', name: 'countRetries' },
	);
}

/** The SDK is loaded when the first object needs it: most commands, and services with a folder, never do. */
export async function openClient({ endpoint, region, credentials, answerMsMax, attemptsMax, log, retried }: S3Access): Promise<S3> {
	const { S3 } = await import('@aws-sdk/client-s3');
	const agent = { keepAlive: true, maxSockets: socketsMax };
	const client = new S3({
		...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
		...(region === undefined && endpoint === undefined ? {} : { region: region ?? 'us-east-1' }),
		...(credentials === undefined
			? {}
			: {
					credentials: {
						accessKeyId: credentials.accessKeyId,
						secretAccessKey: credentials.secretAccessKey,
						...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken }),
					},
				}),
		maxAttempts: attemptsMax,
		logger: loggerOf(log),
		// Uploads carry Content-MD5, because many stores do not understand the SDK's own checksums.
		requestChecksumCalculation: 'WHEN_REQUIRED',
		responseChecksumValidation: 'WHEN_REQUIRED',
		requestHandler: {
			connectionTimeout: Math.min(connectMs, answerMsMax),
			socketTimeout: answerMsMax,
			socketAcquisitionWarningTimeout: 2 ** 31 - 1,
			httpAgent: agent,
			httpsAgent: agent,
		},
	});
	if (retried !== undefined) countRetries(client, retried);
	return client;
}

function statusOf(error: unknown): number | undefined {
	return (error as Partial<S3ServiceException> | undefined)?.$metadata?.httpStatusCode;
}

function nameOf(error: unknown): string {
	return error instanceof Error ? error.name : '';
}

export function isMissing(error: unknown): boolean {
	// The answer to HEAD has no body, so a missing bucket cannot be distinguished there.
	return nameOf(error) !== 'NoSuchBucket' && (nameOf(error) === 'NoSuchKey' || statusOf(error) === 404);
}

/** Tells whether the range begins behind the end of the object. */
export function isBeyondEnd(error: unknown): boolean {
	return statusOf(error) === 416;
}

/** Tells whether the same request may succeed a moment later: it was not answered, or the store is overloaded. */
export function isPassing(error: unknown): boolean {
	const status = statusOf(error);
	return status === undefined ? !(error instanceof TypeError) : status >= 500 || status === 429 || status === 408;
}

/** Describes a fault of the store as a refusal; the cause holds the store's answer. */
export function s3Failure(error: unknown): Failure {
	if (error instanceof Failure) return error;
	return new Failure('unavailable', 'the object store does not answer as it should', { cause: error });
}
