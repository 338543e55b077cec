import { Failure } from '#core/failure.ts';
import { findRetrievable } from '#imaging/search.ts';
import type { ImagingClause, RetrievableInstance } from '#record/imaging-query.ts';
import { requireScope } from '#record/scopes.ts';
import { isUid } from '#record/uid.ts';
import type { HttpRequest } from '../http/message.ts';
import { authorizeReading, type ReadingGrant } from './authorize-reading.ts';
import type { DicomWebContext } from './context.ts';

/** Instances that are read from the index at a time. The answer has all of them. */
const pageInstances = 500;
const uidsOfPath = { study: 'StudyInstanceUID', series: 'SeriesInstanceUID', instance: 'SOPInstanceUID' } as const;

/** The study, series or instance that a path names, in the site of the key. */
export interface Retrieved {
	siteId: string;
	grant: ReadingGrant;
	requestId: string;
	studyUid: string;
	/** Address of the caller. */
	source: string;
	clauses: readonly ImagingClause[];
	isInstance: boolean;
}

/** @throws Failure `unauthenticated`; `not-found` when a name in the path is no UID */
export async function retrievedBy(context: DicomWebContext, request: HttpRequest): Promise<Retrieved> {
	const grant = await authorizeReading(context, request);
	requireScope(grant.scopes, 'ImagingStudy', 'r');
	const { params, source, requestId } = request;
	if (grant.onlyStudy !== undefined && grant.onlyStudy !== params['study']) throw nothing();
	const clauses = Object.entries(uidsOfPath).flatMap(([name, attribute]): ImagingClause[] => {
		const uid = params[name];
		if (uid === undefined) return [];
		if (!isUid(uid, 'lenient')) throw nothing();
		return [{ kind: 'equals', attribute, values: [uid] }];
	});
	const isInstance = params['instance'] !== undefined;
	return { siteId: grant.siteId, grant, requestId, studyUid: params['study'] ?? '', source, clauses, isInstance };
}

/** Returns the same failure for objects of another site and for objects that never existed. */
export function nothing(): Failure {
	return new Failure('not-found', 'no instance has these UIDs');
}

export interface FoundInstances {
	first: RetrievableInstance;
	/** All instances, including the first one. Each page is read when it is needed. */
	all: AsyncGenerator<RetrievableInstance>;
}

/**
 * Finds the instances of a study or series, or a single instance. The first is known to lie in the object store.
 * @throws Failure `not-found`, `unavailable`
 */
export async function findInstances(context: DicomWebContext, retrieved: Retrieved): Promise<FoundInstances> {
	const { currentReader, objects, log, accesses } = context;
	const { siteId, grant, clauses, studyUid, source, requestId } = retrieved;
	const page = (after: readonly string[] | undefined) => findRetrievable(currentReader, siteId, clauses, { count: pageInstances, after });
	const { instances, next } = await page(undefined);
	const [first] = instances;
	if (!first) throw nothing();
	accesses.note({ grant, action: 'dicomweb.retrieve', subject: studyUid, studies: [studyUid], source, requestId });
	if ((await objects.size(first.objectKey)) === undefined) {
		log.error({ site: siteId, object: first.objectKey }, 'an object of the index is not in the store');
		throw new Failure('internal', 'the instance cannot be read');
	}
	async function* all(): AsyncGenerator<RetrievableInstance> {
		yield* instances;
		for (let after = next; after !== undefined; ) {
			const following = await page(after);
			yield* following.instances;
			after = following.next;
		}
	}
	return { first, all: all() };
}
