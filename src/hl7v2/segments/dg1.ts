import type { Json } from '#core/json.ts';
import type { CodeableConcept } from '#fhir/datatypes.ts';
import { codingSystem } from '#fhir/mapping/coding-system.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { ItemChange } from '#record/kinds/item.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { Segment } from '../message.ts';
import { replaceTime } from './choice.ts';
import { type Context, nameOf } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { type EntityIdentifier, typedIdentifier, uncheckedIdentifier } from './datatypes/ei.ts';
import { practitioners } from './datatypes/xcn.ts';
import { describedCode, type ItemOwner, isWithdrawn, itemKey } from './item.ts';
import { replace } from './pid.ts';

const verificationSystem = 'http://terminology.hl7.org/CodeSystem/condition-ver-status';

function verification(code: string): CodeableConcept {
	return { coding: [{ system: verificationSystem, code }] };
}

const clinicalStatus: CodeableConcept = {
	coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }],
};
const category: CodeableConcept[] = [
	{
		coding: [
			{ system: 'http://terminology.hl7.org/CodeSystem/condition-category', code: 'encounter-diagnosis', display: 'Encounter Diagnosis' },
		],
	},
];

/** A condition entered in error has no clinical status (con-5), and so no abatement either (con-4). */
const withdrawal: ResourcePatch = {
	elements: {
		verificationStatus: verification('entered-in-error'),
		clinicalStatus: null,
		...Object.fromEntries(['DateTime', 'Age', 'Period', 'Range', 'String'].map((type): [string, null] => [`abatement${type}`, null])),
		_abatementDateTime: null,
		_abatementString: null,
	},
	parts: {},
};

/** Table 0052: the certainty of a diagnosis of the type. */
const certainties: Readonly<Record<string, string>> = { A: 'provisional', W: 'provisional', F: 'confirmed' };

/** Converts DG1 (v2.5.1 §6.5.2) to Condition, as a snapshot. Undefined, and flagged, when it has neither an identifier nor a diagnosis. */
export function diagnosisChange(dg1: Segment, { patient, encounter }: ItemOwner, context: Context): ItemChange | undefined {
	const identifier = uncheckedIdentifier(dg1, 20);
	const coded = codeableConcept(dg1, 3, 0, codingSystem(dg1.text(2)));
	const described = describedCode(dg1, 3, coded, dg1.whole(4).trim());
	const item = itemKey(identifier, described.concept);
	if (item === undefined) {
		context.flag('segment-skipped', `${nameOf(dg1)} names no diagnosis (DG1-3, DG1-4 or DG1-20) and was left out`);
		return undefined;
	}
	const target = { kind: 'item', resourceType: 'Condition', patient, item, ...(encounter === undefined ? {} : { encounter }) } as const;
	if (isWithdrawn(dg1, 21, context)) return { ...target, patch: withdrawal, unknown: 'ignore' };
	const patch = diagnosisPatch(dg1, described.elements, context);
	return { ...target, patch, initial: initialOf(identifier), unknown: 'create' };
}

/** Sorts the final diagnosis last, so that it wins over the admitting one of the same code. Withdrawn ones come first. */
export function diagnosisRank(dg1: Segment): number {
	if (dg1.text(21).trim().toUpperCase() === 'D') return 0;
	return dg1.text(6).trim().toUpperCase() === 'F' ? 2 : 1;
}

/** The identifier identifies the condition, so it never changes. */
function initialOf(identifier: EntityIdentifier | undefined): ResourcePatch {
	const numbers = identifier === undefined ? {} : { identifier: [typedIdentifier(identifier)] };
	return { elements: { ...numbers, clinicalStatus, category }, parts: {} };
}

function diagnosisPatch(dg1: Segment, code: Record<string, Json>, context: Context): ResourcePatch {
	const elements: Record<string, Json> = { ...code };
	replaceTime(elements, 'onset', dg1, 5, context);
	replace(elements, 'verificationStatus', dg1, 6, () => certainty(dg1, context));
	replace(elements, 'asserter', dg1, 16, () => practitioners(dg1, 16, context)[0]);
	replace(elements, 'recordedDate', dg1, 19, () => context.time(dg1, 19));
	const extension = extensions(dg1, elements['recordedDate']);
	return { elements, parts: extension ? { extension } : {} };
}

function certainty(dg1: Segment, context: Context): CodeableConcept | undefined {
	const code = dg1.text(6).trim().toUpperCase();
	if (code === '') return undefined;
	const found = entryOf(certainties, code);
	if (found === undefined) context.unreadable(dg1, 6, 'has a code that table 0052 does not list and was left out');
	return found === undefined ? undefined : verification(found);
}

const assertedDateUrl = 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate';
const dueToUrl = 'http://hl7.org/fhir/StructureDefinition/condition-dueTo';

/** DG1-19 once more (the guide leaves open which of the two it is), and DG1-22, the diagnosis that it follows from. */
function extensions(dg1: Segment, recordedDate: Json | undefined): ResourcePatch['parts'][string] | undefined {
	let parts: ResourcePatch['parts'][string] | undefined;
	if (recordedDate !== undefined) {
		parts = { [assertedDateUrl]: recordedDate === null ? null : [{ url: assertedDateUrl, valueDateTime: recordedDate }] };
	}
	if (!dg1.isPresent(22)) return parts;
	const parent = uncheckedIdentifier(dg1, 22);
	if (parent !== undefined) {
		const valueReference = { type: 'Condition', identifier: typedIdentifier(parent) };
		parts = { ...parts, [dueToUrl]: [{ url: dueToUrl, valueReference }] };
	} else if (dg1.isNull(22)) parts = { ...parts, [dueToUrl]: null };
	return parts;
}
