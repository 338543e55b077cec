import { Failure } from '#core/failure.ts';
import { canonical, type JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import { referenceFound } from '../apply/conditional-reference.ts';
import type { ApplyContext } from '../apply/context.ts';
import { withMergeLinks } from '../apply/merge.ts';
import { identifiersOf } from '../apply/patient.ts';
import { putKeyed } from '../apply/put-keyed.ts';
import { bringBack, type DeletionTarget, deletionTarget, type ResourceDeletion, remove } from '../apply/resource-deletion.ts';
import { revise } from '../apply/revise.ts';
import { fhirIdOf, newRow, type Row, referenceTo, resourceOf, storedOf } from '../apply/rows.ts';
import { clientOrigin } from '../client-origin.ts';
import type { Condition } from '../condition.ts';
import { documentBinaries, refuseDocumentBinary } from '../holdings/document-binaries.ts';
import { patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { writtenPatients } from '../holdings/written-patients.ts';
import { survivorOf } from '../identity/match.ts';
import { noteMismatch } from '../identity/notes.ts';
import { givenIdOf, rowIdOf } from '../row-id.ts';
import type { Token } from '../search-plan.ts';
import type { SettingValue } from '../settings/settings.ts';
import { isDeletion, type StoredResource } from '../stored-resource.ts';
import type { ColumnValue, ResourceType } from '../table-shape.ts';

/**
 * A FHIR client's request for one resource (FHIR R4 §3.1.0). Unlike other changes it never leaves its thread, because it holds functions.
 */
export interface ResourceChange {
	kind: 'resource';
	resourceType: ResourceType;
	/** `create`: new unless the condition matches. `update`: the resource with the id, or of the condition. `patch`: a known resource. */
	interaction: 'create' | 'update' | 'patch';
	/** The FHIR id to write; undefined when the service assigns one or the condition finds it. */
	id: string | undefined;
	/** The URL by which the other changes of a transaction refer to it (Bundle.entry.fullUrl). */
	fullUrl: string | undefined;
	/** The condition of If-None-Exist, or the search of a conditional update or patch. */
	condition: Condition | undefined;
	/** References by search (`Patient?identifier=a`), which a transaction may contain. Each must match one resource. */
	references: readonly Condition[];
	/** The identifiers of the content, by which other changes of a transaction may refer to it. Absent: none. */
	identifiers?: readonly Token[];
	/** Versions of If-Match; `*` matches any. */
	ifMatch: readonly string[] | undefined;
	/** True with `If-None-Match: *`: write only when there is no such resource yet. */
	ifNoneMatch: boolean;
	/** True when a write to an existing resource must have If-Match. Absent: it need not. */
	ifMatchRequired?: boolean;
	/** True when an update may create the resource under the id that the client chose. */
	mayCreate: boolean;
	/** True when the patients in `Composed.patients` must exist. */
	checkReferences: boolean;
	/** Decides about a resource whose patient was merged: it is written under the survivor, or refused. Absent: `follow`. */
	mergedReferences?: SettingValue<'merged_references'> | undefined;
	/** Row ids of patients to which the content will refer. For a patch they are filled in during the site's turn. */
	patients: readonly string[];
	/** What the client is told of a write that is accepted. For a patch it is filled in when the content is composed. */
	notices?: readonly Notice[];
	/**
	 * Composes the content to write from the stored content and the resolved full URLs of the transaction.
	 * @throws Failure when that is impossible
	 */
	compose(held: HeldContent | undefined, resolved: ReadonlyMap<string, string>): Composed;
}

/** An issue of an OperationOutcome (FHIR R4 §2.37) about a write that is accepted. */
export interface Notice {
	severity: 'error' | 'warning' | 'information';
	code: string;
	diagnostics: string;
	expression?: readonly string[];
}

/** A stored resource; its id is the FHIR id. */
export interface HeldContent extends StoredResource {
	resource: JsonObject;
	links: Readonly<Record<string, ColumnValue>>;
}

export function heldContentOf(held: Row): HeldContent {
	return { ...storedOf(held), resource: resourceOf(held), links: held.links };
}

export interface Composed {
	/** The resource without resourceType, id and meta. */
	resource: JsonObject;
	meta: string | null;
	/** `meta.source` as the client set it. */
	source: string | undefined;
	links: Readonly<Record<string, ColumnValue>>;
	patients: readonly PatientReference[];
}

export interface PatientReference {
	rowId: string;
	/** The reference as the client wrote it. */
	text: string;
	/** Its place as FHIRPath. */
	expression: string;
}

export const resourceKind = defineChange<ResourceChange | ResourceDeletion>({
	kind: 'resource',
	keys(change, keys) {
		const { resourceType, interaction, id, condition } = change;
		if (id !== undefined) keys.addRow(resourceType, rowIdOf(id));
		for (const found of condition?.matched?.ids ?? []) keys.addRow(resourceType, rowIdOf(found));
		if (resourceType === 'Binary' && id !== undefined) keys.of(documentBinaries).add(rowIdOf(id));
		if (change.interaction === 'delete') return;
		const { references, patients } = change;
		for (const { plan, matched } of references) for (const found of matched?.ids ?? []) keys.addRow(plan.resourceType, rowIdOf(found));
		for (const rowId of patients) keys.addRow('Patient', rowId);
		if (resourceType !== 'Patient' || interaction === 'create') return;
		for (const written of id === undefined ? (condition?.matched?.ids ?? []) : [id]) keys.of(writtenPatients).add(rowIdOf(written));
	},
	needsLookup: (change) =>
		change.condition !== undefined || change.interaction === 'patch' || (change.interaction !== 'delete' && change.references.length > 0),
	apply() {
		throw new Error('resources are applied together');
	},
	applyTogether: applyResources,
});

interface Target {
	change: ResourceChange;
	/** The stored resource; undefined when it will be created. */
	held: Row | undefined;
	/** The deletion that it follows; undefined unless it is brought back. */
	gone: Row | undefined;
	/** The FHIR id. */
	id: string;
	/** True for a conditional create whose condition matched: nothing is written. */
	untouched: boolean;
}

/**
 * Carries out a FHIR client's request: a single change, or all those of a transaction (FHIR R4 §3.1.0.11.2). It first determines which
 * resource each change is about, then writes each, then checks their references.
 * @throws Failure when one of them is refused; then none has happened
 */
function applyResources(context: ApplyContext, changes: readonly (ResourceChange | ResourceDeletion)[]): void {
	const targets = changes.map((change) => (change.interaction === 'delete' ? deletionTarget(context, change) : targetOf(context, change)));
	refuseOverlap(targets);
	const written = targets
		.filter(isWrite)
		.filter(({ untouched }) => !untouched)
		.map(({ id, change: { resourceType, identifiers = [] } }) => ({ resourceType, id, identifiers }));
	const resolved = new Map<string, string>();
	for (const target of targets) {
		if (!isWrite(target)) continue;
		const { change, id } = target;
		if (change.fullUrl !== undefined) resolved.set(change.fullUrl, `${change.resourceType}/${id}`);
		for (const reference of change.references) resolved.set(reference.criteria, referenceFound(reference, written));
	}
	const checks = targets.map((target) => (isWrite(target) ? write(context, target, resolved) : remove(context, target)));
	for (const check of checks) check?.();
}

function isWrite(target: Target | DeletionTarget): target is Target {
	return target.change.interaction !== 'delete';
}

function targetOf(context: ApplyContext, change: ResourceChange): Target {
	const target = change.condition ? conditionalTarget(context, change) : plainTarget(context, change);
	if (!target.untouched) checkVersion(change, target);
	return target;
}

function plainTarget(context: ApplyContext, change: ResourceChange): Target {
	if (change.id === undefined) return { change, held: undefined, gone: undefined, id: context.newId(), untouched: false };
	refuseDocumentBinary(context, change.resourceType, change.id);
	const known = context.set.newest(change.resourceType, rowIdOf(change.id));
	if (known !== undefined && isDeletion(known)) {
		if (change.interaction === 'patch') throw new Failure('gone', `the ${change.resourceType} is deleted`);
		return { change, held: undefined, gone: known, id: change.id, untouched: false };
	}
	const held = known;
	if (held === undefined && change.interaction === 'patch') {
		throw new Failure('not-found', `there is no ${change.resourceType} with this id`);
	}
	if (held === undefined && change.ifMatch === undefined && !change.mayCreate) {
		throw new Failure(
			'method-not-allowed',
			`there is no ${change.resourceType} with this id, and this site assigns the ids of new resources`,
		);
	}
	return { change, held, gone: undefined, id: change.id, untouched: false };
}

function conditionalTarget(context: ApplyContext, change: ResourceChange): Target {
	const { condition, resourceType } = change;
	const matched = condition?.matched?.ids;
	if (matched === undefined) throw new Error('a condition was not looked up');
	if (matched.length > 1) throw new Failure('several-matches', 'the condition matches several resources');
	const [found] = matched;
	if (found === undefined) return unmatchedTarget(context, change);
	const held = context.set.row(resourceType, rowIdOf(found));
	if (held === undefined) throw new Error('what a condition matched was not read');
	if (change.interaction === 'update' && change.id !== undefined && change.id !== fhirIdOf(held)) {
		throw new Failure('invalid', 'the id of the resource is not that of the resource which the condition matches', {
			location: { expression: `${resourceType}.id` },
		});
	}
	return { change, held, gone: undefined, id: fhirIdOf(held), untouched: change.interaction === 'create' };
}

/** A conditional patch that matches nothing is refused. A conditional update then creates. It does not write to a resource that does not match (FHIR R4 §3.1.0.4.3). */
function unmatchedTarget(context: ApplyContext, change: ResourceChange): Target {
	const { resourceType, id } = change;
	if (change.interaction === 'patch') throw new Failure('not-found', `the condition matches no ${resourceType}`);
	if (id !== undefined && context.set.row(resourceType, rowIdOf(id)) !== undefined) {
		throw new Failure('conflict', `the condition matches no ${resourceType}, and another ${resourceType} has the id of the body`, {
			location: { expression: `${resourceType}.id` },
		});
	}
	return plainTarget(context, change);
}

/** Checks If-Match and If-None-Match (FHIR R4 §3.1.0.5, RFC 9110 §13.1). */
function checkVersion({ ifMatch, ifMatchRequired, ifNoneMatch, resourceType }: ResourceChange, { held, gone }: Target): void {
	if (ifMatchRequired === true && ifMatch === undefined && held !== undefined)
		throw new Failure('precondition-failed', 'this site asks for If-Match with the version that a write is based on');
	const isOfDeletion = gone !== undefined && ifMatch?.includes(String(gone.version));
	if (ifMatch !== undefined && !isOfDeletion) {
		if (held === undefined) throw new Failure('precondition-failed', `If-Match names a version of a ${resourceType} that does not exist`);
		if (!ifMatch.includes('*') && !ifMatch.includes(String(held.version))) {
			throw new Failure(
				'precondition-failed',
				`the ${resourceType} has another version than If-Match names; the current one is ${held.version}`,
			);
		}
	}
	if (ifNoneMatch && held !== undefined)
		throw new Failure('precondition-failed', `the ${resourceType} exists, and If-None-Match asks that it does not`);
}

function refuseOverlap(targets: readonly (Target | DeletionTarget)[]): void {
	const seen = new Set<string>();
	for (const target of targets) {
		const { change, id } = target;
		const name = `${change.resourceType}/${id}`;
		if (seen.has(name)) throw new Failure('invalid', 'two entries of the transaction are about the same resource');
		if (id !== undefined) seen.add(name);
		if (change.condition === undefined || !isWrite(target) || target.held !== undefined || target.untouched) continue;
		const criteria = `${change.resourceType}?${change.condition.criteria}`;
		if (seen.has(criteria)) throw new Failure('invalid', 'two entries of the transaction have the same condition');
		seen.add(criteria);
	}
}

/** Writes the resource. Returns the check of its references, to be run when all resources are written. */
function write(context: ApplyContext, { change, held, gone, id, untouched }: Target, resolved: ReadonlyMap<string, string>): () => void {
	if (untouched && held !== undefined) {
		context.results.push({ status: 200, row: held });
		return () => undefined;
	}
	const before: HeldContent | undefined = held && heldContentOf(held);
	if (held !== undefined) refuseReplaced(context, held);
	const { composed, recordedUnder } = followed(context, change, before, resolved);
	const { meta, links } = composed;
	const resource = held?.resourceType === 'Patient' ? ofSurvivor(context, change, held, composed.resource) : composed.resource;
	const writing = composed.source === undefined ? context : { ...context, source: composed.source };
	const fresh = { ...idsOf(change, id), text: JSON.stringify(resource), resource, meta, links };
	const row =
		held === undefined
			? created(writing, gone === undefined ? newRow(writing, fresh) : bringBack(writing, gone, fresh))
			: revised(writing, held, textOf(held, before, resource), composed);
	if (row !== held) {
		if (held !== undefined) refuseOthers(held, links);
		if (held?.resourceType === 'Patient') noteMismatch(context, held, resource, 'Patient', 'changed', false);
		putKeyed(context.set, row);
		if (recordedUnder !== undefined) context.set.record({ row, patientId: recordedUnder });
		if (change.resourceType === 'Patient') {
			const numbers = context.set.of(patientIdentifiers);
			numbers.put(row.id, before ? identifiersOf(before.resource) : [], identifiersOf(resource));
			numbers.claim(row.id, context.message);
		}
	}
	context.results.push({ status: held === undefined ? 201 : 200, row });
	return () => checkPatients(context, change, composed.patients);
}

/** A replaced patient must no longer be used (FHIR R4 Patient.link, `replaced-by`). */
function refuseReplaced({ set }: ApplyContext, held: Row): void {
	if (held.resourceType !== 'Patient' || typeof held.links['merged_into'] !== 'string') return;
	const survivor = referenceTo(survivorOf(set, held));
	throw new Failure('conflict', `the Patient was merged into ${survivor}, which is written in its place`, {
		location: { expression: 'Patient' },
	});
}

/** Where clients write beside the service, they change only what clients wrote. */
function refuseOthers({ resourceType, links }: Row, written: Composed['links']): void {
	if (written['origin'] !== clientOrigin || links['origin'] === clientOrigin) return;
	throw new Failure(
		'conflict',
		`the service made this ${resourceType} from messages, images or the work of people; clients change only what clients wrote`,
		{ location: { expression: resourceType } },
	);
}

/** Composes the content. Where its patient was merged, it is that of the survivor, and the row id of the merged patient is returned. */
function followed(
	{ set }: ApplyContext,
	change: ResourceChange,
	before: HeldContent | undefined,
	resolved: ReadonlyMap<string, string>,
): { composed: Composed; recordedUnder: string | undefined } {
	const composed = change.compose(before, resolved);
	const patientId = composed.links['patient_id'];
	const named = typeof patientId === 'string' ? set.row('Patient', patientId) : undefined;
	if (named === undefined || typeof named.links['merged_into'] !== 'string') return { composed, recordedUnder: undefined };
	const survivor = referenceTo(survivorOf(set, named));
	const references = composed.patients.filter(({ rowId }) => rowId === named.id);
	if (change.mergedReferences === 'refuse') {
		throw new Failure('conflict', `the resource refers to a Patient that was merged into ${survivor}`, {
			location: { expression: references[0]?.expression ?? change.resourceType },
		});
	}
	const led = new Map([...resolved, ...references.map(({ text }): [string, string] => [text, survivor])]);
	return { composed: change.compose(before, led), recordedUnder: named.id };
}

/**
 * Returns what a client writes of a patient, with what belongs to merges: the links to the patients that it replaced. A client that found
 * it
 * by the number of such a patient does not know its identifiers, so they stay, as they do where a message comes under that number.
 */
function ofSurvivor(context: ApplyContext, { condition }: ResourceChange, held: Row, written: JsonObject): JsonObject {
	const linked = withMergeLinks(context, held, written);
	if (condition?.matched?.throughMerge !== true) return linked;
	const { identifier } = resourceOf(held);
	return identifier === undefined ? linked : { ...linked, identifier };
}

/** Unchanged content gets no new version, even if its keys would be different today. */
function revised(context: ApplyContext, held: Row, text: string, { resource, links, meta }: Composed): Row {
	return revise(context, held, text, resource, text === held.text ? held.links : { ...held.links, ...links }, meta);
}

function idsOf({ resourceType }: ResourceChange, id: string): Pick<Row, 'resourceType' | 'id' | 'givenId'> {
	return { resourceType, id: rowIdOf(id), givenId: givenIdOf(id) };
}

function created(context: ApplyContext, row: Row): Row {
	context.changed.push(row);
	return row;
}

/** Returns the held text when the content is the same, whatever the order of its members. Then no new version is made. */
function textOf(held: Row, before: HeldContent | undefined, resource: JsonObject): string {
	const text = JSON.stringify(resource);
	if (text === held.text || before === undefined) return text;
	return text.length === held.text.length && canonical(resource) === canonical(before.resource) ? held.text : text;
}

function checkPatients({ set }: ApplyContext, { checkReferences }: ResourceChange, patients: readonly PatientReference[]): void {
	if (!checkReferences) return;
	const failure = withoutPatients(patients.filter(({ rowId }) => set.row('Patient', rowId) === undefined));
	if (failure !== undefined) throw failure;
}

/** The failure of a write that refers to these patients, whom its site does not have. */
export function withoutPatients(missing: readonly PatientReference[]): Failure | undefined {
	const [first] = missing;
	if (first === undefined) return undefined;
	return new Failure('unknown-key', 'the resource refers to a Patient that this site does not have', {
		location: { expression: first.expression },
		issues: missing.map(({ expression }) => ({ code: 'not-found', expression, diagnostics: 'this site has no Patient of this id' })),
	});
}
