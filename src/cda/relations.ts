import { entryOf } from '#fhir/mapping/table.ts';
import type { Context } from '#hl7v3/context.ts';
import { uncheckedIdentifier } from '#hl7v3/datatypes/ii.ts';
import { valueIn } from '#hl7v3/datatypes/ts.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import { indexText } from '#record/index-text.ts';
import type { DocumentChange, DocumentRelation } from '#record/kinds/document/change.ts';
import type { Identifier } from '#record/resource-patch.ts';

/** x_ActRelationshipDocument (2.16.840.1.113883.11.11610). */
const codes: Readonly<Record<string, DocumentRelation['code']>> = { RPLC: 'replaces', APND: 'appends', XFRM: 'transforms' };

/** relatedDocument/parentDocument (CDA R2 §4.2.3.1): one of a typeCode. */
export function relationsOf(document: XmlElement, context: Context): DocumentRelation[] {
	const relations: DocumentRelation[] = [];
	for (const related of document.children('relatedDocument')) {
		const parent = related.first('parentDocument');
		const code = entryOf(codes, related.attribute('typeCode'));
		const id = parent && firstIdentifier(parent.children('id'), context);
		const set = parent && setOf(parent, context);
		const identifier = id ?? (parent && firstIdentifier(parent.children('setId'), context));
		if (code === undefined || identifier === undefined) {
			context.skipped(related, code === undefined ? 'its typeCode is not RPLC, APND or XFRM' : 'its parentDocument has no id');
			continue;
		}
		if (relations.some((other) => other.code === code)) {
			context.skipped(related, 'a document has one parent of a typeCode');
			continue;
		}
		relations.push({
			code,
			identifier,
			...(id === undefined ? {} : { key: keyOf(id) }),
			...(set === undefined ? {} : { set }),
		});
	}
	return relations;
}

function firstIdentifier(ids: readonly XmlElement[], context: Context): Identifier | undefined {
	return ids.map((id) => uncheckedIdentifier(id, context)).find((found) => found !== undefined);
}

/** setId and versionNumber of a document or of its parent. */
export function setOf(document: XmlElement, context: Context): DocumentChange['set'] {
	const identifier = firstIdentifier(document.children('setId'), context);
	if (identifier === undefined) return undefined;
	const key = keyOf(identifier);
	const element = document.first('versionNumber');
	const text = valueIn(element);
	if (element === undefined || text === undefined) return { key };
	if (/^\d{1,9}$/.test(text)) return { key, version: Number(text) };
	context.unreadable(element, 'is no number; versions of the set are told by their time');
	return { key };
}

export function keyOf({ system, value }: Identifier): string {
	return indexText(`${typeof system === 'string' ? system : ''}|${value}`);
}

/** Returns the accession number of the order that the document fulfils (CDA R2 §4.2.3.3), if it names one. */
export function accessionNumber(document: XmlElement): string | undefined {
	const orders = document.all('inFulfillmentOf', 'order', 'id').filter((id) => !id.isNull && id.attribute('extension') !== '');
	return orders[0]?.attribute('extension');
}
