import type { JsonObject } from '#core/json.ts';
import { otherNumberRank, type PatientIdentifier, patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { identifierKey, isIndexable, systemOf } from '../identity/identifier-key.ts';
import { identifies } from '../identity/identifying.ts';
import type { Identifier, ResourcePatch } from '../resource-patch.ts';
import type { ApplyContext } from './context.ts';
import { applyPatch, identifierPart } from './patch.ts';
import { revise } from './revise.ts';
import type { Row } from './rows.ts';

/** Applies a patch to a resource that was just parsed from the row. */
export function rewritePatient(
	context: ApplyContext,
	row: Row,
	resource: JsonObject,
	patch: ResourcePatch,
	links: Row['links'] = row.links,
	meta: Row['meta'] = row.meta,
): Row {
	const before = identifiersOf(resource);
	const unchanged = JSON.stringify(resource);
	applyPatch(resource, patch);
	const text = JSON.stringify(resource);
	const next = revise(context, row, text === unchanged ? row.text : text, resource, links, meta);
	if (next === row) return row;
	context.set.put(next);
	const after = identifiersOf(resource);
	if (JSON.stringify(before) !== JSON.stringify(after)) context.set.of(patientIdentifiers).put(row.id, before, after);
	return next;
}

/** Returns the entries of the identifier index for a Patient. The first that is not `old` is the business identifier. */
export function identifiersOf(resource: JsonObject): PatientIdentifier[] {
	const list = resource['identifier'];
	if (!Array.isArray(list)) return [];
	const found: PatientIdentifier[] = [];
	const keys = new Set<string>();
	// Where no number identifies by its type, the first one does.
	const hasIdentifying = list.length > 1 && (list as Identifier[]).some(identifies);
	for (const item of list as Identifier[]) {
		if (typeof item.value !== 'string' || item.value === '') continue;
		const system = systemOf(item);
		if (!isIndexable(item.value, system)) continue;
		if (list.length > 1) {
			const key = identifierKey(item);
			if (keys.has(key)) continue;
			keys.add(key);
		}
		const part = identifierPart(item);
		const isOwn = (part === 'PID-3' || part === 'old') && (!hasIdentifying || identifies(item));
		const rank = isOwn ? Math.min(found.length, otherNumberRank - 1) : otherNumberRank;
		found.push({ value: item.value, system, old: part === 'old', rank });
	}
	return found;
}
