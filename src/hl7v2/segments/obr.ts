import { endsBeforeStart } from '#core/date-range.ts';
import type { FailureLocation } from '#core/failure.ts';
import type { CodeableConcept, Coding, Identifier, Period, Reference } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { practitionerOf } from '#fhir/mapping/mentions.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { codeText, joined } from '#fhir/mapping/text.ts';
import type { Segment } from '../message.ts';
import { type Context, nameOf } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { type EntityIdentifier, entityIdentifier, typedIdentifier } from './datatypes/ei.ts';
import { personName } from './datatypes/xcn.ts';
import { orderKeyOf } from './order-number.ts';
import type { Ordinals } from './ordinals.ts';
import { type ParentResult, parentResult } from './parent-result.ts';

/** The facts of the order that apply to each of its observations. */
export interface OrderContext {
	filler: EntityIdentifier | undefined;
	placer: EntityIdentifier | undefined;
	/** Key of the filler (else placer) order number; undefined when neither ORC nor OBR has one. */
	order: EntityIdentifier | undefined;
	/** The field of that number. */
	numbered: FailureLocation | undefined;
	/** OBR-4. */
	code: CodeableConcept | undefined;
	/** OBR-26 and OBR-29. */
	parent: ParentResult | undefined;
	/** OBR-7 and 8, else OBR-22. */
	effectiveDateTime: string | undefined;
	effectivePeriod: Period | undefined;
	issued: string | undefined;
	category: CodeableConcept[] | undefined;
	/** OBR-15 (before 2.7); SPM, where there is one, says more. */
	specimen: Reference | undefined;
	/** OBR-32: the responsible interpreter when the OBX names nobody. */
	interpreter: Reference | undefined;
	basedOn: Reference[] | undefined;
	/** OBR-25: for an OBX without OBX-11. */
	resultStatus: string;
}

/** The facts of the message to which a group belongs. */
export interface GroupOwner {
	patient: number;
	encounter: number | undefined;
	/** Counts through the whole message. */
	ordinals: Ordinals;
}

/** An order is begun by ORC, by OBR, or by ORC and the OBR behind it. `sender`: see sendingApplication. */
export function orderContext(orc: Segment | undefined, obr: Segment | undefined, sender: string, context: Context): OrderContext {
	const filler = number(obr, orc, 3);
	const placer = number(obr, orc, 2);
	const code = obr && codeableConcept(obr, 4);
	const times = obr ? effective(obr, context) : undefined;
	const order = orderKeyOf(filler, placer, sender);
	return {
		filler,
		placer,
		order,
		numbered: numberedAt(filler ? 3 : 2, obr, orc),
		code,
		parent: obr && parentResult(obr, { filler, placer, order }, sender),
		effectiveDateTime: times?.effectiveDateTime,
		effectivePeriod: times?.effectivePeriod,
		issued: obr && context.instant(obr, 22),
		category: obr && category(codeText(obr.text(24))),
		specimen: obr && specimenSource(obr),
		interpreter: obr && namedPerson(obr, 32, context),
		basedOn: basedOn(placer, filler, code, context),
		resultStatus: obr?.text(25) ?? '',
	};
}

/** The context of observations before the first order, which belong to the patient (PATIENT_OBSERVATION, v2.8). */
export const noOrder: OrderContext = {
	filler: undefined,
	placer: undefined,
	order: undefined,
	numbered: undefined,
	code: undefined,
	parent: undefined,
	effectiveDateTime: undefined,
	effectivePeriod: undefined,
	issued: undefined,
	category: undefined,
	specimen: undefined,
	interpreter: undefined,
	basedOn: undefined,
	resultStatus: '',
};

/** OBR-2/3, else ORC-2/3: the same numbers (v2.5.1 §4.5.3.2). */
function number(obr: Segment | undefined, orc: Segment | undefined, field: number): EntityIdentifier | undefined {
	return (obr && entityIdentifier(obr, field)) ?? (orc && entityIdentifier(orc, field));
}

function numberedAt(field: number, obr: Segment | undefined, orc: Segment | undefined): FailureLocation | undefined {
	const segment = obr?.isPresent(field) ? obr : (orc ?? obr);
	return segment && { segment: segment.id, sequence: segment.sequence, field };
}

type Times = { effectiveDateTime: string | undefined; effectivePeriod: Period | undefined };

function effective(obr: Segment, context: Context): Times {
	const start = context.time(obr, 7);
	const end = context.time(obr, 8);
	if (start !== undefined && end !== undefined && start !== end) {
		if (!endsBeforeStart(start, end)) return { effectiveDateTime: undefined, effectivePeriod: { start, end } };
		context.unreadable(obr, 8, 'lies before OBR-7 and was left out');
	}
	return { effectiveDateTime: start ?? end ?? context.time(obr, 22), effectivePeriod: undefined };
}

const observationCategory = 'http://terminology.hl7.org/CodeSystem/observation-category';
const imaging: Coding = { system: observationCategory, code: 'imaging', display: 'Imaging' };
const laboratory: Coding = { system: observationCategory, code: 'laboratory', display: 'Laboratory' };

/** Table 0074 → observation-category; sections that are neither keep the code of the table alone. */
const categories: Readonly<Record<string, Coding>> = {
	...Object.fromEntries(['CT', 'CUS', 'IMG', 'NMR', 'NMS', 'OUS', 'RAD', 'RUS', 'RX', 'VUS', 'XRC'].map((code) => [code, imaging])),
	...Object.fromEntries(
		['BG', 'BLB', 'CG', 'CH', 'CP', 'GE', 'HM', 'IMM', 'LAB', 'MB', 'MCB', 'MYC', 'OSL', 'SP', 'SR', 'TX', 'VR'].map((code) => [
			code,
			laboratory,
		]),
	),
};
const sectionTable = v2Table('0074');

function category(section: string): CodeableConcept[] | undefined {
	if (section === '') return undefined;
	const own: Coding = { system: sectionTable, code: section };
	const known = entryOf(categories, section);
	return [{ coding: known ? [known, own] : [own] }];
}

/** SPS: the first component is a CWE in subcomponents. */
function specimenSource(obr: Segment): Reference | undefined {
	const display = obr.text(15, 1, 0, 2) || obr.text(15, 1, 0, 1) || obr.text(15, 3);
	return display === '' ? undefined : { type: 'Specimen', display };
}

/** SPM-2 (filler's, else placer's number) and SPM-4 (type). */
export function specimenOf(spm: Segment): Reference | undefined {
	// An EIP is two identifiers, each with its own authority.
	const number = spm.text(2, 2).trim() === '' ? 1 : 2;
	const part = (subcomponent: number) => spm.text(2, number, 0, subcomponent);
	const value = part(1).trim();
	const display = spm.whole(4, 2) || spm.whole(4, 9) || spm.text(4, 1);
	if (value === '' && display === '') return undefined;
	const reference: Reference = { type: 'Specimen' };
	if (value !== '') reference.identifier = typedIdentifier({ system: authoritySystem(part(2), part(3), part(4)), value });
	if (display !== '') reference.display = display;
	return reference;
}

/**
 * Returns a reader of the parts of an NDL, whose first component is a CNN (id, family, given, …) in subcomponents. Senders of a CN or XCN, as in the
 * examples of the standard itself, have them as components; NDL-2 is a time, so a name there tells the two apart.
 */
function nameParts(obr: Segment, field: number, repetition: number): (number: number) => string {
	const isNested = obr.subcomponents(field, 1, repetition) > 1 || !/^\p{L}/u.test(obr.text(field, 2, repetition).trim());
	if (isNested) return (number) => obr.text(field, 1, repetition, number).trim();
	return (number) => (number < 9 ? obr.text(field, number, repetition) : obr.text(field, 9, repetition, number - 8)).trim();
}

/** Reads an NDL. */
export function namedPerson(obr: Segment, field: number, { mentions }: Context, repetition = 0): Reference | undefined {
	const part = nameParts(obr, field, repetition);
	const display = joined(part(6), part(3), part(4), part(2), part(5));
	const value = part(1);
	if (display === '' && value === '') return undefined;
	const system = authoritySystem(part(9), part(10), part(11));
	const reference: Reference = {
		type: 'Practitioner',
		...(value === '' ? {} : { identifier: typedIdentifier({ system, value }) }),
		...(display === '' ? {} : { display }),
	};
	if (mentions !== undefined && reference.identifier !== undefined) {
		const resource = practitionerOf(personName(display, [2, 3, 4, 5, 6, 7].map(part)));
		mentions.add({ reference, identifiers: [reference.identifier], resource, field: `${nameOf(obr)}-${field}` });
	}
	return reference;
}

function basedOn(
	placer: EntityIdentifier | undefined,
	filler: EntityIdentifier | undefined,
	code: CodeableConcept | undefined,
	{ mentions }: Context,
): Reference[] | undefined {
	const display = code?.text;
	const reference = (identifier: Identifier): Reference => ({
		type: 'ServiceRequest',
		identifier,
		...(display === undefined ? {} : { display }),
	});
	const list: Reference[] = [];
	if (placer) list.push(reference(typedIdentifier(placer, 'PLAC')));
	// Where they lead to the order, which has both numbers, one reference is enough.
	if (filler && !(placer && mentions?.unknown === 'create')) list.push(reference(typedIdentifier(filler, 'FILL')));
	return list.length === 0 ? undefined : list;
}
