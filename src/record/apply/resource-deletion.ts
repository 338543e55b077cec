import { Failure } from '#core/failure.ts';
import type { Condition } from '../condition.ts';
import { auditTrail } from '../holdings/audit-trail.ts';
import { refuseDocumentBinary } from '../holdings/document-binaries.ts';
import { actorOf } from '../report.ts';
import { rowIdOf } from '../row-id.ts';
import { deletionText, isDeletion } from '../stored-resource.ts';
import type { ResourceType } from '../table-shape.ts';
import type { ApplyContext } from './context.ts';
import { fhirIdOf, type Row, referenceTo } from './rows.ts';

/**
 * A deletion is a version of its own, without content. Its row stays, so that the id is known, its versions can be read, and an update brings
 * it back. What refers to the resource is left as it is: R4 leaves that to the server, and not every reference is in an index.
 */

/** A FHIR client's request to delete one resource (FHIR R4 §3.1.0.7). */
export interface ResourceDeletion {
	kind: 'resource';
	resourceType: ResourceType;
	interaction: 'delete';
	/** The FHIR id; undefined when the condition finds it. */
	id: string | undefined;
	/** The search of a conditional delete. */
	condition: Condition | undefined;
	/** Versions of If-Match; `*` matches any. */
	ifMatch: readonly string[] | undefined;
	/** True when a deletion must have If-Match. Absent: it need not. */
	ifMatchRequired?: boolean;
}

export interface DeletionTarget {
	change: ResourceDeletion;
	/** The resource, or its deletion; undefined when there was never one. */
	newest: Row | undefined;
	/** The FHIR id; undefined when the condition matches nothing. */
	id: string | undefined;
}

/** @throws Failure when the condition matches several, or If-Match names another version */
export function deletionTarget(context: ApplyContext, change: ResourceDeletion): DeletionTarget {
	const { resourceType, condition } = change;
	const matched = condition?.matched?.ids;
	if (condition !== undefined && matched === undefined) throw new Error('a condition was not looked up');
	if (matched !== undefined && matched.length > 1) throw new Failure('several-matches', 'the condition matches several resources');
	const id = condition === undefined ? change.id : matched?.[0];
	if (id !== undefined) refuseDocumentBinary(context, resourceType, id);
	const newest = id === undefined ? undefined : context.set.newest(resourceType, rowIdOf(id));
	checkVersion(change, newest);
	return { change, newest, id };
}

/** A client that did not get the answer may repeat its request, so If-Match may also name the version that is already deleted. */
function checkVersion({ resourceType, ifMatch, ifMatchRequired }: ResourceDeletion, newest: Row | undefined): void {
	if (ifMatch === undefined) {
		if (ifMatchRequired !== true || newest === undefined || isDeletion(newest)) return;
		throw new Failure('precondition-failed', 'this site asks for If-Match with the version that is to be deleted');
	}
	if (newest === undefined) throw new Failure('precondition-failed', `If-Match names a version of a ${resourceType} that does not exist`);
	const versions = isDeletion(newest) ? [newest.version, newest.version - 1] : [newest.version];
	if (ifMatch.includes('*') || versions.some((version) => ifMatch.includes(String(version)))) return;
	throw new Failure(
		'precondition-failed',
		`the ${resourceType} has another version than If-Match names; the current one is ${newest.version}`,
	);
}

/** Deletes a resource. One that is deleted already, or that never was, changes nothing (FHIR R4 §3.1.0.7). */
export function remove(context: ApplyContext, { newest }: DeletionTarget): void {
	const row = newest === undefined || isDeletion(newest) ? newest : deletionOf(context, newest);
	context.results.push({ status: 204, row });
}

function deletionOf(context: ApplyContext, held: Row): Row {
	const { set, source, lastUpdated, message } = context;
	const row: Row = {
		...held,
		version: held.version + 1,
		text: deletionText,
		resource: {},
		meta: null,
		links: Object.fromEntries(Object.keys(held.links).map((name) => [name, null])),
		source,
		supersedes: held,
		stored: false,
		lastUpdated,
	};
	set.put(row);
	context.changed.push(row);
	set.of(auditTrail).put({
		id: context.newId(),
		recordedAt: lastUpdated,
		actor: actorOf({ keyId: message.source }),
		action: 'resource.delete',
		subject: referenceTo(row),
		source: '',
		detail: JSON.stringify({ id: fhirIdOf(row), version: row.version }),
	});
	return row;
}

/** Makes the version that follows a deletion: the resource is there again, under its id. */
export function bringBack(
	{ source, lastUpdated }: Pick<ApplyContext, 'source' | 'lastUpdated'>,
	gone: Row,
	written: Pick<Row, 'text' | 'resource' | 'meta' | 'links'>,
): Row {
	return { ...gone, ...written, version: gone.version + 1, source, supersedes: gone, stored: false, lastUpdated };
}
