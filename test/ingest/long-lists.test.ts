import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeRequest } from '#fhir/write/request.ts';
import type { Delivery } from '#record/delivery.ts';
import { clinicalDocument } from '#test/support/cda.ts';
import { entry, section } from '#test/support/cda-sections.ts';
import { carried, MemoryBatch } from '#test/support/interpretation.ts';

const list = (count: number, each: (index: number) => string, between = '~') =>
	Array.from({ length: count }, (_, index) => each(index)).join(between);
const items = (count: number, each: (index: number) => object) => Array.from({ length: count }, (_, index) => each(index));
const hl7v2 = (type: string, rest: string): Delivery => {
	const bytes = Buffer.from(`MSH|^~\\&|L|F|R|RF|20260101||${type}|1|P|2.5.1\rPID|1||U\r${rest}\r`);
	return { ...carried(), kind: 'hl7v2', surface: 'mllp', bytes };
};
const pid = (rest: string): Delivery => {
	const bytes = Buffer.from(`MSH|^~\\&|L|F|R|RF|20260101||ADT^A08|1|P|2.5.1\rPID|1||${rest}\r`);
	return { ...carried(), kind: 'hl7v2', surface: 'mllp', bytes };
};
const fhir = (url: string, resource: object): Delivery => {
	const bytes = encodeRequest({ method: 'POST', url, headers: {}, body: Buffer.from(JSON.stringify(resource)) });
	return { ...carried(), kind: 'fhir', surface: 'fhir', bytes };
};
const cda = (text: string): Delivery => ({ ...carried(), kind: 'hl7v3', surface: 'hl7-http', bytes: Buffer.from(text) });
const body = (sections: string) => `<component><structuredBody>${sections}</structuredBody></component>`;
const procedure = (index: number) =>
	entry(`<procedure classCode="PROC" moodCode="EVN"><id root="1.2.${index}"/><code code="1"/></procedure>`);

/** Every list that a sender can make long. */
const lists: Record<string, (count: number) => Delivery> = {
	'PID-3': (count) => pid(list(count, (index) => `U${index}^^^A${index}`)),
	'PID-5': (count) => pid(`U||${list(count, (index) => `D${index}^J`)}`),
	'PID-11': (count) => pid(`U||||||||${list(count, (index) => `S${index}^^T`)}`),
	'PID-13': (count) => pid(`U||||||||||${list(count, (index) => `${index}`)}`),
	'MRG-1': (count) => hl7v2('ADT^A40', `MRG|${list(count, (index) => `M${index}`)}`),
	AL1: (count) => hl7v2('ADT^A08', `PV1|1|I\r${list(count, (index) => `AL1|${index}|FA|P${index}^Peanut`, '\r')}`),
	DG1: (count) => hl7v2('ADT^A08', `PV1|1|I\r${list(count, (index) => `DG1|${index}||I${index}^X`, '\r')}`),
	OBX: (count) => hl7v2('ORU^R01', `OBR|1||F|1^A^LN\r${list(count, (index) => `OBX|${index}|NM|${index}^T^LN||1`, '\r')}`),
	OBR: (count) =>
		hl7v2(
			'ORU^R01',
			list(count, (index) => `OBR|${index}||F${index}|1^A^LN`, '\r'),
		),
	NTE: (count) => hl7v2('ORU^R01', `OBR|1||F|1^A^LN\rOBX|1|NM|1^T^LN||1\r${list(count, (index) => `NTE|${index}||n`, '\r')}`),
	'identifiers of FHIR': (count) =>
		fhir('Patient', { resourceType: 'Patient', identifier: items(count, (index) => ({ system: 'urn:x', value: `${index}` })) }),
	'codings of FHIR': (count) =>
		fhir('Observation', {
			resourceType: 'Observation',
			status: 'final',
			code: { coding: items(count, (index) => ({ code: `${index}` })) },
		}),
	'entries of a Bundle': (count) =>
		fhir('', {
			resourceType: 'Bundle',
			type: 'transaction',
			entry: items(count, () => ({ request: { method: 'POST', url: 'Patient' }, resource: { resourceType: 'Patient' } })),
		}),
	'entries of a document': (count) => cda(clinicalDocument({ body: body(section('47519-4', list(count, procedure, ''))) })),
	'sections of a document': (count) => cda(clinicalDocument({ body: body(list(count, () => section('47519-4', '', 't'), '')) })),
	'series of MPPS': (count) => {
		const study = { '0020000D': { vr: 'UI', Value: ['1.2'] } };
		const series = items(count, (index) => ({ '0020000E': { vr: 'UI', Value: [`1.2.${index}`] } }));
		const attributes = {
			'00400252': { vr: 'CS', Value: ['IN PROGRESS'] },
			'00400270': { vr: 'SQ', Value: [study] },
			'00400340': { vr: 'SQ', Value: series },
		};
		const bytes = Buffer.from(JSON.stringify({ sop_instance_uid: '1.2.3', attributes }));
		return { ...carried(), kind: 'mpps', surface: 'dimse', operation: 'create', bytes };
	},
};

const walking = [
	'some',
	'every',
	'find',
	'findIndex',
	'includes',
	'indexOf',
	'filter',
	'map',
	'flatMap',
	'slice',
	'splice',
	'concat',
	'shift',
	'unshift',
] as const;

/** Counts the items of lists that are walked or copied while a delivery is read and applied. */
function walked(delivery: Delivery): number {
	let count = 0;
	const prototype = Array.prototype as unknown as Record<PropertyKey, (...values: unknown[]) => unknown>;
	const originals = new Map<PropertyKey, (...values: unknown[]) => unknown>();
	for (const name of [...walking, Symbol.iterator]) {
		const original = prototype[name] as (...values: unknown[]) => unknown;
		originals.set(name, original);
		prototype[name] = function (this: unknown[], ...values: unknown[]) {
			count += this.length;
			return Reflect.apply(original, this, values);
		};
	}
	try {
		assert.equal(new MemoryBatch().take(delivery).reply.outcome, 'accepted');
	} finally {
		for (const [name, original] of originals) prototype[name] = original;
	}
	return count;
}

describe('the work for a list grows with it, not with its square', () => {
	for (const [name, make] of Object.entries(lists)) {
		test(name, () => {
			const [few, many] = [walked(make(200)), walked(make(1600))];
			assert.ok(many < few * 16, `${few} items walked for 200, ${many} for 1600`);
		});
	}
});
