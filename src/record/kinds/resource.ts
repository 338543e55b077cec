import { Failure } from '#core/failure.ts';
import { canonical, type JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { identifiersOf } from '../apply/patient.ts';
import { putKeyed } from '../apply/put-keyed.ts';
import { revise } from '../apply/revise.ts';
import { fhirIdOf, newRow, type Row, resourceOf } from '../apply/rows.ts';
import { patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { givenIdOf, rowIdOf } from '../row-id.ts';
import type { SearchPlan } from '../search-plan.ts';
import type { ColumnValue, ResourceType } from '../table-shape.ts';

/** What a FHIR client asks for one resource (FHIR R4 §3.1.0). Unlike the other changes it never leaves its thread: it composes. */
export interface ResourceChange {
	kind: 'resource';
	resourceType: ResourceType;
	/** `create`: new unless the condition matches. `update`: the resource of the id, or of the condition. `patch`: a known one. */
	interaction: 'create' | 'update' | 'patch';
	/** The FHIR id that is written; undefined where the service assigns one or the condition finds it. */
	id: string | undefined;
	/** How the other changes of a transaction refer to it (Bundle.entry.fullUrl). */
	fullUrl: string | undefined;
	/** If-None-Exist, or the search of a conditional update. */
	condition: Condition | undefined;
	/** References by search (`Patient?identifier=a`), as a transaction may have them: each has to match one resource. */
	references: readonly Condition[];
	/** Versions of If-Match; `*` is any. */
	ifMatch: readonly string[] | undefined;
	/** If-None-Match: * — only when there is none yet. */
	ifNoneMatch: boolean;
	/** Whether an update may create the resource under the id that the client chose. */
	mayCreate: boolean;
	/** Whether what `Composed.patients` names has to exist. */
	checkReferences: boolean;
	/** Row ids of patients that the content will refer to; of a patch, filled in when the site's turn is taken. */
	patients: readonly string[];
	/**
	 * The content to write, from what is held and from what the full URLs of the transaction became.
	 * @throws Failure when it cannot be
	 */
	compose(held: HeldContent | undefined, resolved: ReadonlyMap<string, string>): Composed;
}

export interface Condition {
	/** The search as the client wrote it; of a reference with its type before it. */
	criteria: string;
	plan: SearchPlan;
	/** FHIR ids of what matches, two at most; filled in when the site's turn is taken. */
	matched: readonly string[] | undefined;
}

export interface HeldContent {
	/** The FHIR id. */
	id: string;
	resource: JsonObject;
	links: Readonly<Record<string, ColumnValue>>;
	/** JSON text of further members of meta, or null. */
	meta: string | null;
}

export interface Composed {
	/** Without resourceType, id and meta. */
	resource: JsonObject;
	meta: string | null;
	/** `meta.source` as the client set it. */
	source: string | undefined;
	links: Readonly<Record<string, ColumnValue>>;
	patients: readonly PatientReference[];
}

export interface PatientReference {
	rowId: string;
	/** Where it stands, as FHIRPath. */
	expression: string;
}

export const resourceKind = defineChange<ResourceChange>({
	kind: 'resource',
	keys({ resourceType, id, condition, references, patients }, keys) {
		if (id !== undefined) keys.addRow(resourceType, rowIdOf(id));
		for (const found of condition?.matched ?? []) keys.addRow(resourceType, rowIdOf(found));
		for (const { plan, matched } of references) for (const found of matched ?? []) keys.addRow(plan.resourceType, rowIdOf(found));
		for (const rowId of patients) keys.addRow('Patient', rowId);
	},
	needsLookup: ({ condition, references, interaction }) => condition !== undefined || references.length > 0 || interaction === 'patch',
	apply() {
		throw new Error('resources are applied together');
	},
	applyTogether: applyResources,
});

interface Target {
	change: ResourceChange;
	/** The resource as it is held; undefined where it is to be created. */
	held: Row | undefined;
	/** The FHIR id. */
	id: string;
	/** A conditional create whose condition matched: nothing is written. */
	untouched: boolean;
}

/**
 * Carries out what a FHIR client asks: a single change, or all those of a transaction (FHIR R4 §3.1.0.11.2). First it is
 * settled which resource each change is about, then each is written, then what they refer to is checked.
 * @throws Failure when one of them is refused; then none has happened
 */
function applyResources(context: ApplyContext, changes: readonly ResourceChange[]): void {
	const targets = changes.map((change) => targetOf(context, change));
	refuseOverlap(targets);
	const resolved = new Map<string, string>();
	for (const { change, id } of targets) {
		if (change.fullUrl !== undefined) resolved.set(change.fullUrl, `${change.resourceType}/${id}`);
		for (const reference of change.references) resolved.set(reference.criteria, referenceFound(reference));
	}
	const checks = targets.map((target) => write(context, target, resolved));
	for (const check of checks) check();
}

function targetOf(context: ApplyContext, change: ResourceChange): Target {
	const target = change.condition ? conditionalTarget(context, change) : plainTarget(context, change);
	if (!target.untouched) checkVersion(change, target.held);
	return target;
}

/** FHIR R4 §3.1.0.11.2.2, conditional references. */
function referenceFound({ plan, matched }: Condition): string {
	const [found, another] = matched ?? [];
	if (found === undefined || another !== undefined) {
		throw new Failure(
			'precondition-failed',
			`a conditional reference matches ${found === undefined ? 'no' : 'more than one'} ${plan.resourceType}`,
		);
	}
	return `${plan.resourceType}/${found}`;
}

function plainTarget(context: ApplyContext, change: ResourceChange): Target {
	if (change.id === undefined) return { change, held: undefined, id: context.newId(), untouched: false };
	const held = context.set.row(change.resourceType, rowIdOf(change.id));
	if (held === undefined && change.interaction === 'patch') {
		throw new Failure('not-found', `there is no ${change.resourceType} with this id`);
	}
	if (held === undefined && change.ifMatch === undefined && !change.mayCreate) {
		throw new Failure(
			'method-not-allowed',
			`there is no ${change.resourceType} with this id, and this site assigns the ids of new resources`,
		);
	}
	return { change, held, id: change.id, untouched: false };
}

function conditionalTarget(context: ApplyContext, change: ResourceChange): Target {
	const { condition, resourceType } = change;
	const matched = condition?.matched;
	if (matched === undefined) throw new Error('a condition was not looked up');
	if (matched.length > 1) throw new Failure('several-matches', 'the condition matches several resources');
	const [found] = matched;
	if (found === undefined) return plainTarget(context, change);
	const held = context.set.row(resourceType, rowIdOf(found));
	if (held === undefined) throw new Error('what a condition matched was not read');
	if (change.interaction === 'update' && change.id !== undefined && change.id !== fhirIdOf(held)) {
		throw new Failure('invalid', 'the id of the resource is not that of the resource which the condition matches', {
			location: { expression: `${resourceType}.id` },
		});
	}
	return { change, held, id: fhirIdOf(held), untouched: change.interaction === 'create' };
}

/** FHIR R4 §3.1.0.5, RFC 9110 §13.1. */
function checkVersion({ ifMatch, ifNoneMatch, resourceType }: ResourceChange, held: Row | undefined): void {
	if (ifMatch !== undefined) {
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

function refuseOverlap(targets: readonly Target[]): void {
	const seen = new Set<string>();
	for (const { change, id, held, untouched } of targets) {
		const name = `${change.resourceType}/${id}`;
		if (seen.has(name)) throw new Failure('invalid', 'two entries of the transaction are about the same resource');
		seen.add(name);
		if (change.condition === undefined || held !== undefined || untouched) continue;
		const criteria = `${change.resourceType}?${change.condition.criteria}`;
		if (seen.has(criteria)) throw new Failure('invalid', 'two entries of the transaction have the same condition');
		seen.add(criteria);
	}
}

/** Writes the resource; answers the check of what it refers to, for when all are written. */
function write(context: ApplyContext, { change, held, id, untouched }: Target, resolved: ReadonlyMap<string, string>): () => void {
	if (untouched && held !== undefined) {
		context.results.push({ status: 200, row: held });
		return () => undefined;
	}
	const before: HeldContent | undefined = held && { id: fhirIdOf(held), resource: resourceOf(held), meta: held.meta, links: held.links };
	const composed = change.compose(before, resolved);
	const { resource, meta, links } = composed;
	const writing = composed.source === undefined ? context : { ...context, source: composed.source };
	const row =
		held === undefined
			? created(writing, newRow(writing, { ...idsOf(change, id), text: JSON.stringify(resource), resource, meta, links }))
			: revised(writing, held, textOf(held, before, resource), composed);
	if (row !== held) {
		putKeyed(context.set, row);
		if (change.resourceType === 'Patient') {
			context.set.of(patientIdentifiers).put(row.id, before ? identifiersOf(before.resource) : [], identifiersOf(resource));
		}
	}
	context.results.push({ status: held === undefined ? 201 : 200, row });
	return () => checkPatients(context, change, composed.patients);
}

/** What is written as it is held gets no new version for the sake of a key that it would have today. */
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

/** The same content is no new version, whatever the order of its members. */
function textOf(held: Row, before: HeldContent | undefined, resource: JsonObject): string {
	const text = JSON.stringify(resource);
	if (text === held.text || before === undefined) return text;
	return text.length === held.text.length && canonical(resource) === canonical(before.resource) ? held.text : text;
}

function checkPatients({ set }: ApplyContext, { checkReferences }: ResourceChange, patients: readonly PatientReference[]): void {
	if (!checkReferences) return;
	const missing = patients.filter(({ rowId }) => set.row('Patient', rowId) === undefined);
	const [first] = missing;
	if (first === undefined) return;
	throw new Failure('unknown-key', 'the resource refers to a Patient that this site does not have', {
		location: { expression: first.expression },
		issues: missing.map(({ expression }) => ({ code: 'not-found', expression, diagnostics: 'this site has no Patient of this id' })),
	});
}
