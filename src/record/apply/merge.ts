import { Failure, type FailureLocation } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import type { Identifier, IdentityChange, MergeChange, UnlinkChange } from '../change-set.ts';
import type { ApplyContext } from './context.ts';
import { fieldName, identifierKey, matchPatient, type PatientMatch, systemOf } from './match-patient.ts';
import { rewritePatient } from './patient.ts';
import { type Row, referenceTo, resourceOf } from './rows.ts';

const noPatch = { elements: {}, parts: {} };

/**
 * ADT^A40 (HL7 v2.5.1 §3.3.40): the prior patient is replaced by the survivor. The HL7 v2-to-FHIR guide does not map
 * it; the rules are the product's own, in docs/conformance/hl7v2.md.
 */
export function applyMerge(context: ApplyContext, change: MergeChange, survivor: Row, survivorIdentifier: Identifier): void {
	const location: FailureLocation =
		change.expression === undefined ? { segment: 'MRG', sequence: change.sequence, field: 1 } : { expression: change.expression };
	const refuse = (text: string) => new Failure('key-conflict', `${fieldName(location)} ${text}`, { location });
	if (change.prior.some((identifier) => sameIdentifier(identifier, survivorIdentifier))) {
		throw refuse('names the surviving patient itself');
	}
	const prior = matchPatient(context.set, change.prior[0], location);
	if (prior === undefined) {
		context.flags.push({
			code: 'prior-patient-unknown',
			text: `${fieldName(location)} names a patient that is not known; its identifiers lead to the survivor from now on`,
		});
		carryIdentifiers(context, survivor, change.prior);
		return;
	}
	if (prior.current.id === survivor.id) {
		refuseUnlessSameMerge(context, prior, survivorIdentifier, refuse);
		return;
	}
	if (prior.throughMerge) throw refuse('names a patient that was merged into another one before');
	replace(context, prior.current, survivor, change.prior);
}

/** The two identifiers already lead to one patient: a merge that was made before, or its inverse, or one patient's own. */
function refuseUnlessSameMerge(
	context: ApplyContext,
	prior: PatientMatch,
	survivorIdentifier: Identifier,
	refuse: (text: string) => Failure,
): void {
	const survivor = matchPatient(context.set, survivorIdentifier, { segment: 'PID', field: 3 });
	if (survivor?.throughMerge) throw refuse('names the survivor of an earlier merge of the same two patients');
	if (!prior.throughMerge) throw refuse('names the surviving patient itself');
}

function replace(context: ApplyContext, prior: Row, survivor: Row, identifiers: readonly Identifier[]): void {
	const carried = carryIdentifiers(context, survivor, identifiers);
	link(context, carried, prior, 'replaces', {}, carried.links);
	link(context, prior, survivor, 'replaced-by', { active: false }, { ...prior.links, merged_into: survivor.id });
	context.set.move({ from: prior, to: survivor, reason: 'merge' });
}

function carryIdentifiers(context: ApplyContext, survivor: Row, identifiers: readonly Identifier[]): Row {
	const resource = resourceOf(survivor);
	const held = (resource['identifier'] ?? []) as Identifier[];
	const known = new Set(held.map(identifierKey));
	const further = identifiers.filter((identifier) => !known.has(identifierKey(identifier)));
	if (further.length === 0) return survivor;
	const carried = further.map((identifier) => ({ ...identifier, use: 'old' }));
	return rewritePatient(context, survivor, resource, { elements: { identifier: [...held, ...carried] }, parts: {} });
}

function link(context: ApplyContext, row: Row, other: Row, type: string, elements: JsonObject, links: Row['links']): Row {
	const resource = resourceOf(row);
	const held = (resource['link'] ?? []) as JsonObject[];
	const list = [...held, { other: { reference: referenceTo(other) }, type }];
	return rewritePatient(context, row, resource, { elements: { ...elements, link: list }, parts: {} }, links);
}

/** ADT^A37 (HL7 v2.5.1 §3.3.37): undoes a merge of the two patients, whichever of them was replaced. */
export function applyUnlink(context: ApplyContext, change: UnlinkChange): void {
	const first = matchPatient(context.set, change.first[0], { segment: 'PID', sequence: 1, field: 3 });
	const second = matchPatient(context.set, change.second[0], { segment: 'PID', sequence: 2, field: 3 });
	const pair = first && second ? replacedPair(first, second) : undefined;
	if (pair === undefined) {
		context.flags.push({ code: 'unlink-unknown', text: 'PID-3 of the two PID segments names no merge that could be undone' });
		return;
	}
	separate(context, ...pair);
}

/** A person's merge or unmerge: the same, between patients that are named by their ids. All identifiers of the prior one are carried. */
export function applyIdentity(context: ApplyContext, { edit }: IdentityChange): void {
	const [survivor, prior] = [edit.survivor, edit.prior].map((id) => context.set.row('Patient', id));
	if (survivor === undefined || prior === undefined) throw new Failure('not-found', 'one of the patients is not there');
	if (edit.operation === 'unmerge') {
		if (prior.links['merged_into'] !== survivor.id) throw new Failure('key-conflict', 'the two patients are not merged');
		separate(context, prior, survivor);
		return;
	}
	if (survivor.id === prior.id) throw new Failure('key-conflict', 'a patient is not merged with itself');
	if (survivor.links['merged_into'] || prior.links['merged_into']) {
		throw new Failure('key-conflict', 'one of the patients was merged into another one before');
	}
	replace(context, prior, survivor, (resourceOf(prior)['identifier'] ?? []) as Identifier[]);
}

/** Undoes the merge of `prior` into `survivor`. */
function separate(context: ApplyContext, prior: Row, survivor: Row): void {
	const own = new Set(((resourceOf(prior)['identifier'] ?? []) as Identifier[]).map(identifierKey));
	const restored = withoutLink(context, prior, survivor, { active: true }, { ...prior.links, merged_into: null });
	const resource = resourceOf(survivor);
	const kept = ((resource['identifier'] ?? []) as Identifier[]).filter(
		(identifier) => identifier['use'] !== 'old' || !own.has(identifierKey(identifier)),
	);
	const renamed = rewritePatient(context, survivor, resource, { elements: { identifier: kept }, parts: {} });
	withoutLink(context, renamed, restored, {}, renamed.links);
	context.set.move({ from: survivor, to: restored, reason: 'unlink' });
}

function replacedPair(first: PatientMatch, second: PatientMatch): [Row, Row] | undefined {
	if (first.direct.links['merged_into'] === second.direct.id) return [first.direct, second.direct];
	if (second.direct.links['merged_into'] === first.direct.id) return [second.direct, first.direct];
	return undefined;
}

function withoutLink(context: ApplyContext, row: Row, other: Row, elements: JsonObject, links: Row['links']): Row {
	const resource = resourceOf(row);
	const list = ((resource['link'] ?? []) as JsonObject[]).filter(
		(item) => (item['other'] as JsonObject)['reference'] !== referenceTo(other),
	);
	const patch = { elements: { ...elements, link: list.length === 0 ? null : list }, parts: noPatch.parts };
	return rewritePatient(context, row, resource, patch, links);
}

function sameIdentifier(left: Identifier, right: Identifier): boolean {
	return left.value === right.value && systemOf(left) === systemOf(right);
}
