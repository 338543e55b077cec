import { Failure } from '#core/failure.ts';
import { isUid } from '#dicom/uid.ts';
import { type IndexedInstance, instancesOf, type Retrieved } from '#storage/imaging-retrieval.ts';
import { authenticate } from '../http/authenticate.ts';
import type { HttpRequest } from '../http/message.ts';
import type { DicomWebContext } from './context.ts';

/**
 * What a path names, in the site of the key.
 * @throws Failure `unauthenticated`, `not-found` where something is named by what is no UID
 */
export function retrievedBy(context: DicomWebContext, request: HttpRequest): Retrieved {
	const { siteId } = authenticate(context, request);
	const { study = '', series, instance } = request.params;
	const uids =
		instance === undefined
			? series === undefined
				? ([study] as const)
				: ([study, series] as const)
			: ([study, series ?? '', instance] as const);
	if (!uids.every((uid) => isUid(uid))) throw nothing();
	return { siteId, uids };
}

/** The same answer for what another site has, and for what never was. */
export function nothing(): Failure {
	return new Failure('not-found', 'there is nothing under these UIDs');
}

export interface FoundInstances {
	first: IndexedInstance;
	/** The first one too. */
	all: AsyncGenerator<IndexedInstance>;
}

/**
 * The instances of a study, of a series, or the one; the first is in the object store.
 * @throws Failure `not-found`, `unavailable`
 */
export async function findInstances({ reader, objects, log }: DicomWebContext, retrieved: Retrieved): Promise<FoundInstances> {
	const instances = instancesOf(reader, retrieved);
	const { value: first } = await instances.next();
	if (!first) throw nothing();
	if ((await objects.size(first.objectKey)) === undefined) {
		log.error({ site: retrieved.siteId, object: first.objectKey }, 'an object of the index is not in the store');
		throw new Failure('internal', 'the instance cannot be read');
	}
	return { first, all: following(first, instances) };
}

async function* following(first: IndexedInstance, rest: AsyncGenerator<IndexedInstance>): AsyncGenerator<IndexedInstance> {
	yield first;
	yield* rest;
}
