import type { CodeableConcept, Coding } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { codingSystem } from '#fhir/mapping/coding-system.ts';
import { codeText, joined } from '#fhir/mapping/text.ts';
import type { ParentOfResult } from '#record/kinds/observation.ts';
import type { Segment } from '../message.ts';
import type { EntityIdentifier } from './datatypes/ei.ts';
import { orderKeyOf } from './order-number.ts';
import { occurrence } from './ordinals.ts';
import { resultItem } from './result-item.ts';

/** The result of which the results of an OBR say more, such as the organism whose susceptibilities they are. */
export interface ParentResult extends ParentOfResult {
	/** The part of the keys of these results and of their report. No key without a parent begins like it. */
	prefix: string;
}

/** The order of the OBR itself. */
interface OwnOrder {
	filler: EntityIdentifier | undefined;
	placer: EntityIdentifier | undefined;
	order: EntityIdentifier | undefined;
}

/**
 * Reads OBR-26, the OBX-3, OBX-4 and text of the parent, and OBR-29, the order of the parent (v2.5.1 §4.5.3.26, §4.5.3.29). Undefined without
 * OBR-26. The text is no part of the prefix, because the name of an organism may change until it is final. Where the sub-id is
 * empty the text takes its place, so that results of two parents are not one.
 */
export function parentResult(obr: Segment, own: OwnOrder, sender: string): ParentResult | undefined {
	const code = codeIn(obr, 26);
	const subId = obr.text(26, 2).trim();
	const text = obr.text(26, 3).trim();
	if (code === undefined && subId === '' && text === '') return undefined;
	const item = resultItem(code, subId);
	const order = parentOrder(obr, own, sender);
	const elsewhere = order === undefined || order === own.order ? '' : `${order.system}|${order.value}`;
	return {
		...(order === undefined ? {} : { order }),
		item,
		second: occurrence(item, 2),
		display: displayOf(code, subId, text),
		prefix: `parent\n${elsewhere}\n${item}\n${subId === '' ? text : ''}\n`,
	};
}

/** Reads a CWE whose parts are subcomponents: the codes that identify it, and its text. */
function codeIn(obr: Segment, field: number): CodeableConcept | undefined {
	const part = (subcomponent: number) => obr.text(field, 1, 0, subcomponent);
	const text = part(9) || part(2) || part(5);
	for (const first of [1, 4]) {
		const code = codeText(part(first));
		if (code === '') continue;
		const system = codingSystem(part(first + 2));
		const coding: Coding = system === '' ? { code } : { system, code };
		return text === '' ? { coding: [coding] } : { coding: [coding], text };
	}
	return text.trim() === '' ? undefined : { text };
}

/** Reads an EIP, the placer's and the filler's number in subcomponents. If it states neither, the parent belongs to the order of the OBR. */
function parentOrder(obr: Segment, own: OwnOrder, sender: string): EntityIdentifier | undefined {
	const [placer, filler] = [numberIn(obr, 1), numberIn(obr, 2)];
	const isOwn = filler ? isSameNumber(filler, own.filler) : placer === undefined || isSameNumber(placer, own.placer);
	return isOwn ? own.order : orderKeyOf(filler, placer, sender);
}

function numberIn(obr: Segment, component: number): EntityIdentifier | undefined {
	const part = (subcomponent: number) => obr.text(29, component, 0, subcomponent);
	const value = part(1).trim();
	return value === '' ? undefined : { system: authoritySystem(part(2), part(3), part(4)), value };
}

/** Compares a number of OBR-29 with that of OBR-2 or OBR-3. A sender may leave out its authority in OBR-29 alone. */
function isSameNumber(stated: EntityIdentifier, own: EntityIdentifier | undefined): boolean {
	return stated.value === own?.value && (stated.system === '' || stated.system === own.system);
}

/** Says all that OBR-26 does: `S. aureus (600-7 Bacteria, 2)`. */
function displayOf(code: CodeableConcept | undefined, subId: string, text: string): string {
	const name = joined(code?.coding?.[0]?.code ?? '', code?.text?.trim() ?? '');
	const place = [name, subId].filter((part) => part !== '').join(', ');
	if (text === '' || place === '') return text || place;
	return `${text} (${place})`;
}
