import type { S3, S3ServiceException } from '@aws-sdk/client-s3';
import { Failure } from '#core/failure.ts';

/** The access to the bucket. The AWS SDK looks for missing values itself: shared files, roles of a container or an instance. */
export interface S3Access {
	/** Undefined means AWS. */
	endpoint: string | undefined;
	region: string | undefined;
	credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined } | undefined;
}

/** A store that works accepts a connection much sooner. */
const connectMs = 5000;
/** The time after which an idle connection is closed. It is longer than the wait for the slowest reader (HTTP_STALL_MS_MAX). */
const idleMs = 90_000;
/** More requests than this wait for a connection in the client; none is refused. */
const socketsMax = 256;

/** The SDK is loaded when the first object needs it: most commands, and services with a folder, never do. */
export async function openClient({ endpoint, region, credentials }: S3Access): Promise<S3> {
	const { S3 } = await import('@aws-sdk/client-s3');
	const agent = { keepAlive: true, maxSockets: socketsMax };
	return new S3({
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
		// Uploads carry Content-MD5, because many stores do not understand the SDK's own checksums.
		requestChecksumCalculation: 'WHEN_REQUIRED',
		responseChecksumValidation: 'WHEN_REQUIRED',
		requestHandler: {
			connectionTimeout: connectMs,
			socketTimeout: idleMs,
			socketAcquisitionWarningTimeout: 2 ** 31 - 1,
			httpAgent: agent,
			httpsAgent: agent,
		},
	});
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
