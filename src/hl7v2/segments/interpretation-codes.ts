import type { Json, JsonObject } from '#core/json.ts';
import type { CodeableConcept, Coding } from '#fhir/datatypes.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import type { Segment } from '../message.ts';
import { codeableConcept } from './datatypes/cwe.ts';

const v3Interpretation = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';
const table = v2Table('0078');

/** Table 0078 codes that v3-ObservationInterpretation has as well. */
const displays: Readonly<Record<string, string>> = {
	'<': 'Off scale low',
	'>': 'Off scale high',
	A: 'Abnormal',
	AA: 'Critical abnormal',
	AC: 'Anti-complementary substances present',
	B: 'Better',
	D: 'Significant change down',
	DET: 'Detected',
	E: 'Equivocal',
	EXP: 'Expected',
	H: 'High',
	HH: 'Critical high',
	HM: 'Hold for Medical Review',
	HU: 'Significantly high',
	HX: 'above high threshold',
	I: 'Intermediate',
	IE: 'Insufficient evidence',
	IND: 'Indeterminate',
	L: 'Low',
	LL: 'Critical low',
	LU: 'Significantly low',
	LX: 'below low threshold',
	N: 'Normal',
	NCL: 'No CLSI defined breakpoint',
	ND: 'Not detected',
	NEG: 'Negative',
	NR: 'Non-reactive',
	NS: 'Non-susceptible',
	POS: 'Positive',
	QCF: 'Quality control failure',
	R: 'Resistant',
	RR: 'Reactive',
	S: 'Susceptible',
	SDD: 'Susceptible-dose dependent',
	'SYN-R': 'Synergy - resistant',
	'SYN-S': 'Synergy - susceptible',
	TOX: 'Cytotoxic substance present',
	U: 'Significant change up',
	UNE: 'Unexpected',
	W: 'Worse',
	WR: 'Weakly reactive',
};

/** OBX-8, IS up to 2.6 and CWE from 2.7. */
export function interpretations(obx: Segment): CodeableConcept[] | undefined {
	const list: CodeableConcept[] = [];
	const repetitions = obx.repetitions(8);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const concept = codeableConcept(obx, 8, repetition, table);
		if (concept) list.push(translated(concept));
	}
	return list.length === 0 ? undefined : list;
}

function translated(concept: CodeableConcept): CodeableConcept {
	const first = concept.coding?.[0];
	if (first?.code === undefined || first.system !== table || !Object.hasOwn(displays, first.code)) return concept;
	const coding: Coding = { system: v3Interpretation, code: first.code, display: displays[first.code] ?? first.code };
	return { ...concept, coding: [coding, ...(concept.coding ?? []).slice(1)] };
}

/** Adds the interpretations of a further line of a text to its observation, each once. */
export function addInterpretations(resource: JsonObject, further: readonly CodeableConcept[]): void {
	const held = (resource['interpretation'] ?? []) as readonly CodeableConcept[];
	const known = new Set(held.map((concept) => JSON.stringify(concept)));
	const added = further.filter((concept) => !known.has(JSON.stringify(concept)));
	if (added.length > 0) resource['interpretation'] = [...held, ...added] as Json;
}
