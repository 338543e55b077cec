import type { JsonObject } from '#core/json.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { settleDoubts } from '../identity/doubt.ts';
import { identifierKey, systemOf } from '../identity/identifier-key.ts';
import { inHeldForm } from '../identity/numbers.ts';
import type { Identifier } from '../resource-patch.ts';
import { rowIdOf } from '../row-id.ts';
import type { ApplyContext } from './context.ts';
import { rewritePatient } from './patient.ts';
import { type Row, referenceTo, resourceOf } from './rows.ts';
import { linkMatched } from './study-link.ts';

const noPatch = { elements: {}, parts: {} };

/** Marks `prior` as replaced by `survivor`, which carries the identifiers from now on. */
export function replace(
	context: ApplyContext,
	prior: Row,
	survivor: Row,
	identifiers: readonly Identifier[],
	common: readonly Identifier[] = [],
): void {
	const own = (resourceOf(prior)['identifier'] ?? []) as Identifier[];
	const { known } = context.set.of(siteAuthorities);
	// The number is carried as the prior patient has it, whichever name of the authority the message has.
	const stated = identifiers.map((identifier) => inHeldForm(identifier, own, known));
	const carried = carryIdentifiers(context, survivor, [...stated, ...own], common);
	link(context, carried, prior, 'replaces', {}, carried.links);
	link(context, prior, survivor, 'replaced-by', { active: false }, { ...prior.links, merged_into: survivor.id });
	context.set.move({ from: prior, to: survivor, reason: 'merge' });
	settleDoubts(context, { patients: [survivor.id, prior.id] }, 'merged');
	linkMatched(context);
}

/** Returns the key of a number: one for all names of its authority. */
function numberKey({ set }: ApplyContext): (identifier: Identifier) => string {
	const { known } = set.of(siteAuthorities);
	return (identifier) => identifierKey({ ...identifier, system: known.nameOf(systemOf(identifier)) });
}

/** Adds further identifiers to the survivor: those of the prior patient as old ones, and as they are those that a message states of both. */
export function carryIdentifiers(
	context: ApplyContext,
	survivor: Row,
	identifiers: readonly Identifier[],
	common: readonly Identifier[],
): Row {
	const resource = resourceOf(survivor);
	const held = (resource['identifier'] ?? []) as Identifier[];
	const keyOf = numberKey(context);
	const seen = new Set(held.map(keyOf));
	const further: Identifier[] = [];
	const add = (identifier: Identifier) => {
		const key = keyOf(identifier);
		if (!seen.has(key)) further.push(identifier);
		seen.add(key);
	};
	for (const identifier of common) add(identifier);
	for (const identifier of identifiers) add({ ...identifier, use: 'old' });
	if (further.length === 0) return survivor;
	return rewritePatient(context, survivor, resource, { elements: { identifier: [...held, ...further] }, parts: {} });
}

function link(context: ApplyContext, row: Row, other: Row, type: string, elements: JsonObject, links: Row['links']): Row {
	const resource = resourceOf(row);
	const held = (resource['link'] ?? []) as JsonObject[];
	const list = [...held, { other: { reference: referenceTo(other) }, type }];
	return rewritePatient(context, row, resource, { elements: { ...elements, link: list }, parts: {} }, links);
}

/** Returns the row ids of the patients that a patient says it replaces. */
export function replacedIn(survivor: Row): string[] {
	if (!survivor.text.includes('"replaces"')) return [];
	const links = (resourceOf(survivor)['link'] ?? []) as JsonObject[];
	return links.flatMap((item) => {
		const id = item['type'] === 'replaces' ? patientNamed(item) : undefined;
		return id === undefined ? [] : [rowIdOf(id)];
	});
}

function patientNamed(link: JsonObject): string | undefined {
	const reference = (link['other'] as JsonObject | undefined)?.['reference'];
	const [, id] = typeof reference === 'string' ? (/^Patient\/([A-Za-z0-9\-.]{1,64})$/.exec(reference) ?? []) : [];
	return id;
}

/** Adds the links of merges that a client left out of a survivor: they are the service's. */
export function withMergeLinks(context: ApplyContext, survivor: Row, resource: JsonObject): JsonObject {
	const merged = new Set<string>();
	for (const id of replacedIn(survivor)) {
		const prior = context.set.row('Patient', id);
		if (prior?.links['merged_into'] === survivor.id) merged.add(referenceTo(prior));
	}
	if (merged.size === 0) return resource;
	const stated = Array.isArray(resource['link']) ? (resource['link'] as JsonObject[]) : [];
	for (const item of stated) if (item['type'] === 'replaces') merged.delete(`Patient/${patientNamed(item) ?? ''}`);
	const held = (resourceOf(survivor)['link'] ?? []) as JsonObject[];
	const kept = held.filter((item) => item['type'] === 'replaces' && merged.has(`Patient/${patientNamed(item) ?? ''}`));
	return kept.length === 0 ? resource : { ...resource, link: [...stated, ...kept] };
}

/** Undoes the merge of `prior` into `survivor`. */
export function separate(context: ApplyContext, prior: Row, survivor: Row): void {
	const keyOf = numberKey(context);
	const own = new Set(((resourceOf(prior)['identifier'] ?? []) as Identifier[]).map(keyOf));
	const restored = withoutLink(context, prior, survivor, { active: true }, { ...prior.links, merged_into: null });
	const resource = resourceOf(survivor);
	const kept = ((resource['identifier'] ?? []) as Identifier[]).filter(
		(identifier) => identifier['use'] !== 'old' || !own.has(keyOf(identifier)),
	);
	const renamed = rewritePatient(context, survivor, resource, { elements: { identifier: kept }, parts: {} });
	withoutLink(context, renamed, restored, {}, renamed.links);
	context.set.move({ from: survivor, to: restored, reason: 'unlink' });
}

function withoutLink(context: ApplyContext, row: Row, other: Row, elements: JsonObject, links: Row['links']): Row {
	const resource = resourceOf(row);
	const list = ((resource['link'] ?? []) as JsonObject[]).filter(
		(item) => (item['other'] as JsonObject)['reference'] !== referenceTo(other),
	);
	const patch = { elements: { ...elements, link: list.length === 0 ? null : list }, parts: noPatch.parts };
	return rewritePatient(context, row, resource, patch, links);
}
