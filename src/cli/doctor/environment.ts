import { Failure } from '#core/failure.ts';
import { isTiedToAnother, otherDatabaseText } from '#storage/database-identity.ts';
import { hasCluster } from '#storage/embedded/data-directory.ts';
import { configuredObjectStore, objectsFolder } from '#storage/objects/open.ts';
import { environmentSchema, secretFileOf, secretVariables } from '../../config.ts';
import { limitDefinitions } from '../../limits.ts';
import { nearest } from '../suggest.ts';
import { type Examined, type Finding, ok, warning } from './check.ts';

const known = new Set([
	...Object.keys(environmentSchema.shape),
	...secretVariables.map(secretFileOf),
	...Object.values(limitDefinitions).map(({ variable }) => variable),
]);

/** Shorter names are near to many others. */
const shortest = 6;

/** A misspelt variable has no effect, and nothing else would say so. Its value is not shown. */
export function checkVariables({ environment }: Examined): Finding {
	const misspelt = Object.keys(environment).flatMap((name) => {
		if (known.has(name) || name.length < shortest) return [];
		const meant = nearVariable(name);
		return meant === undefined || environment[meant] !== undefined ? [] : [`${name} (did you mean ${meant}?)`];
	});
	if (misspelt.length === 0) return ok('variables', 'none looks misspelt');
	return warning('variables', `not known, so without effect: ${misspelt.join(', ')}`);
}

function nearVariable(name: string): string | undefined {
	const upper = name.toUpperCase().replaceAll('-', '_');
	if (known.has(upper)) return upper;
	const meant = nearest(upper, known);
	// Two slips at most: PG_PORT is no misspelt OPS_PORT.
	return meant !== undefined && Math.abs(meant.length - upper.length) <= 2 && sharedStart(meant, upper) >= 3 ? meant : undefined;
}

function sharedStart(one: string, other: string): number {
	let length = 0;
	while (length < one.length && one[length] === other[length]) length++;
	return length;
}

export function checkEmbedded({ config }: Examined): Finding[] {
	if (config.DATABASE_URL === undefined || !hasCluster(config.DATA_DIR)) return [];
	return [
		warning(
			'embedded database',
			`DATABASE_URL is set, and ${config.DATA_DIR} has an embedded database too: what it holds is not served; move it away if it is not needed`,
		),
	];
}

/**
 * Names limits by which one sender can leave others no room. A share is never less than one body, and a mailbox that is empty takes any message,
 * so the whole has to be two of them or more.
 */
export function checkRoom({ config: { limits } }: Examined): Finding[] {
	const { httpBodyBytesMax, mllpFrameBytesMax, httpWaitingBytesMax, waitingBytesMax } = limits;
	const longest = mllpFrameBytesMax > httpBodyBytesMax ? 'MLLP_FRAME_BYTES_MAX' : 'HTTP_BODY_BYTES_MAX';
	const pairs = [
		{ one: 'HTTP_BODY_BYTES_MAX', oneBytes: httpBodyBytesMax, all: 'HTTP_WAITING_BYTES_MAX', allBytes: httpWaitingBytesMax },
		{ one: longest, oneBytes: Math.max(httpBodyBytesMax, mllpFrameBytesMax), all: 'WAITING_BYTES_MAX', allBytes: waitingBytesMax },
	];
	return pairs.flatMap(({ one, oneBytes, all, allBytes }) =>
		oneBytes * 2 <= allBytes
			? []
			: [
					warning(
						'limits',
						`${one} (${oneBytes}) is more than half of ${all} (${allBytes}), so one sender can leave all others no room: set ${all} to ${oneBytes * 4} or more, or lower ${one}`,
					),
				],
	);
}

/** Tells if the data directory was used with another database. */
export async function checkIdentity({ config: { DATA_DIR: dataDir } }: Examined, databaseUrl: string): Promise<Finding[]> {
	return (await isTiedToAnother(dataDir, databaseUrl)) ? [warning('data directory', otherDatabaseText(dataDir))] : [];
}

/** Asks a bucket once. A node starts without it, and refuses images until it answers. */
async function checkBucket({ config }: Examined): Promise<Finding[]> {
	if (objectsFolder(config) !== undefined) return [];
	const store = configuredObjectStore(config);
	const patience = AbortSignal.timeout(config.limits.objectProbeMsMax);
	try {
		await store.probe(patience);
		return [];
	} catch (error) {
		const why = error instanceof Failure && !patience.aborted ? error.diagnostics : 'it does not answer';
		return [warning('object store', `the bucket of OBJECT_STORE_URL cannot be used: ${why}; images are refused until it can`)];
	} finally {
		await store.close();
	}
}

/** Returns what a start tells its operator: what works, and is probably not meant. */
export async function startWarnings(examined: Examined, databaseUrl: string): Promise<string[]> {
	const findings = [
		checkVariables(examined),
		...checkRoom(examined),
		...checkEmbedded(examined),
		...(await checkIdentity(examined, databaseUrl)),
		...(await checkBucket(examined)),
	];
	return findings.flatMap(({ state, check, text }) => (state === 'warning' ? [`${check}: ${text}`] : []));
}
