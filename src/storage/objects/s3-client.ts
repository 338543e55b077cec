import type { S3, S3ServiceException } from '@aws-sdk/client-s3';
import { Failure } from '#core/failure.ts';

/** How the bucket is reached. What is not given the AWS SDK looks for itself: shared files, roles of a container or an instance. */
export interface S3Access {
	/** Undefined: AWS. */
	endpoint: string | undefined;
	region: string | undefined;
	credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined } | undefined;
}

/** A store that works accepts a connection much sooner. */
const connectMs = 5000;
/** A connection on which nothing moves. Longer than the slowest reader is waited for (HTTP_STALL_MS_MAX). */
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
		// Uploads carry Content-MD5; the SDK's own checksums are more than many stores understand.
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
	// Without a body, as HEAD is answered, a missing bucket looks the same.
	return nameOf(error) !== 'NoSuchBucket' && (nameOf(error) === 'NoSuchKey' || statusOf(error) === 404);
}

/** The range begins behind the end of the object. */
export function isBeyondEnd(error: unknown): boolean {
	return statusOf(error) === 416;
}

/** Whether the same request may succeed a moment later: it was not answered, or the store is at its limit. */
export function isPassing(error: unknown): boolean {
	const status = statusOf(error);
	return status === undefined ? !(error instanceof TypeError) : status >= 500 || status === 429 || status === 408;
}

/** A fault of the store in the words of a refusal; the cause says what the store answered. */
export function s3Failure(error: unknown): Failure {
	if (error instanceof Failure) return error;
	return new Failure('unavailable', 'the object store does not answer as it should', { cause: error });
}
