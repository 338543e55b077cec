import type { ChangeSet } from '#record/change-set.ts';
import { keyDigest } from '#record/key-digest.ts';
import type { Change } from '#record/kinds/index.ts';
import { compareTexts, type Retimed, RetimedTexts } from '#record/retimed.ts';
import type { ResourceType } from '#record/table-shape.ts';

const typeOf: Readonly<Partial<Record<Change['kind'], ResourceType>>> = {
	patient: 'Patient',
	encounter: 'Encounter',
	observation: 'Observation',
	'diagnostic-report': 'DiagnosticReport',
	document: 'DocumentReference',
};

/** Compares two readings of one message. They differ in their times, and in what is made of times. */
export function retimed(before: ChangeSet, after: ChangeSet): Retimed {
	const found: Retimed = { texts: new Map(), entries: [] };
	for (const [index, change] of before.changes.entries()) {
		const other = after.changes[index];
		if (other === undefined || other.kind !== change.kind) continue;
		const type = change.kind === 'item' ? change.resourceType : typeOf[change.kind];
		if (type === undefined) continue;
		const texts = textsOf(found, type);
		compareTexts(change, other, '', texts);
		// A row has the digest of its item.
		if (change.kind === 'item' && other.kind === 'item') texts.add('item', keyDigest(change.item), keyDigest(other.item));
		if (change.kind === 'document' && other.kind === 'document') compareEntries(change.entries, other.entries, found);
	}
	return found;
}

type Entries = Extract<Change, { kind: 'document' }>['entries'];

function compareEntries(before: Entries, after: Entries, found: Retimed): void {
	for (const [index, entry] of before.entries()) {
		const other = after[index];
		if (other === undefined || other.resourceType !== entry.resourceType) continue;
		compareTexts(entry.resource, other.resource, '', textsOf(found, entry.resourceType));
		const [from, to] = [keyDigest(entry.item), keyDigest(other.item)];
		if (from !== to) found.entries.push({ resourceType: entry.resourceType, before: from, after: to });
	}
}

function textsOf({ texts }: Retimed, type: ResourceType): RetimedTexts {
	const held = texts.get(type);
	if (held !== undefined) return held;
	const made = new RetimedTexts();
	texts.set(type, made);
	return made;
}
