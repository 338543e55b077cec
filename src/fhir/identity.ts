import type { JsonObject } from '#core/json.ts';
import { visitKey } from '#record/holdings/visits.ts';
import { indexText } from '#record/index-text.ts';
import { identifierItem } from '#record/item-key.ts';
import { keyDigest } from '#record/key-digest.ts';
import { asObject, asObjects, asText } from './elements.ts';
import { v2Table } from './mapping/coding-system.ts';

/** The keys by which messages and documents find a resource again, each computed from the resource. */
export type Identity = Readonly<Record<string, (resource: JsonObject) => string | null>>;

interface Numbered {
	system: string;
	value: string;
}

function numbered(identifier: JsonObject | undefined): Numbered | undefined {
	const value = asText(identifier?.['value']);
	return value === undefined ? undefined : { system: asText(identifier?.['system']) ?? '', value };
}

function typeCodes(identifier: JsonObject): string[] {
	const codings = asObjects(asObject(identifier['type'])?.['coding']).filter(({ system }) => system === v2Table('0203'));
	return codings.map(({ code }) => String(code));
}

/** Returns the number of the visit, else the first identifier. An account number is kept apart from visit numbers (PV1-19, PID-18). */
export function visitKeyOf(resource: JsonObject): string | null {
	const all = asObjects(resource['identifier']).filter((identifier) => numbered(identifier) !== undefined);
	const chosen = all.find((identifier) => typeCodes(identifier).includes('VN')) ?? all[0];
	const number = numbered(chosen);
	if (chosen === undefined || number === undefined) return null;
	const isAccount = typeCodes(chosen).includes('AN');
	return visitKey({ ...number, system: isAccount ? `PID-18 ${number.system}` : number.system });
}

/**
 * Returns the first identifier of a segment's or entry's resource (DG1-20, PR1-19). Without an identifier a resource has no key: a code
 * tells
 * which condition was stated, but not which of a patient's conditions it was.
 */
export function itemKeyOf(resource: JsonObject): string | null {
	const number = asObjects(resource['identifier'])
		.map(numbered)
		.find((found) => found !== undefined);
	return number === undefined ? null : keyDigest(identifierItem(number));
}

/** The id of a document (CDA R2 §4.2.1.4). */
export function documentKeyOf(resource: JsonObject): string | null {
	const number = numbered(asObject(resource['masterIdentifier']));
	return number === undefined ? null : keyDigest(indexText(`${number.system}|${number.value}`));
}

/** Returns the keys of a resource; undefined when it has none. */
export function statedKeys(identity: Identity, resource: JsonObject): Readonly<Record<string, string>> | undefined {
	const keys = Object.entries(identity).flatMap(([column, keyOf]): [string, string][] => {
		const key = keyOf(resource);
		return key === null ? [] : [[column, key]];
	});
	return keys.length === 0 ? undefined : Object.fromEntries(keys);
}
