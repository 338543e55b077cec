import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import type { Json } from '#core/json.ts';
import { encodeRequest } from '#fhir/write/request.ts';
import { interpretDelivery } from '#ingest/kinds/index.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import { clinicalDocument } from '#test/support/cda.ts';
import { entry, section } from '#test/support/cda-sections.ts';
import { BatchRunner } from '#test/support/change-sets.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { coded, document, encounter, observation, patient } from '#test/support/fhir-samples.ts';
import { carried, interpretContext } from '#test/support/interpretation.ts';

/** Text that PostgreSQL cannot compress; as an entry of a B-tree it is too long. */
const long = () => randomBytes(1500).toString('hex');

/** Every text of a JSON value, made long in its turn. */
function* lengthened(value: Json): Iterable<Json> {
	if (typeof value === 'string') yield long();
	else if (Array.isArray(value)) {
		for (const [index, item] of value.entries()) for (const other of lengthened(item)) yield value.with(index, other);
	} else if (typeof value === 'object' && value !== null) {
		for (const [name, member] of Object.entries(value)) {
			if (name === 'resourceType') continue;
			for (const other of lengthened(member)) yield { ...value, [name]: other };
		}
	}
}

const hl7v2 = (text: string): Delivery => ({ ...carried(), kind: 'hl7v2', surface: 'mllp', bytes: Buffer.from(text) });
const fhir = (resource: Json): Delivery => {
	const type = String((resource as { resourceType?: Json }).resourceType);
	const body = Buffer.from(JSON.stringify(resource));
	return { ...carried(), kind: 'fhir', surface: 'fhir', bytes: encodeRequest({ method: 'POST', url: type, headers: {}, body }) };
};
const hl7v3 = (text: string): Delivery => ({ ...carried(), kind: 'hl7v3', surface: 'hl7-http', bytes: Buffer.from(text) });
const mpps = (body: Json): Delivery => ({
	...carried(),
	kind: 'mpps',
	surface: 'mpps',
	operation: 'report',
	bytes: Buffer.from(JSON.stringify(body)),
});

const fieldsMax = 31;

/** A message of each event with each field of each segment made long: as one value, and in all of its components. */
function* messages(): Iterable<Delivery> {
	const segments: Record<string, string[]> = {
		'ADT^A01': ['PID|1||L1', 'PV1|1|I|W'],
		'ADT^A04': ['PID|1||L1', 'PV1|1|O|W'],
		'ADT^A08': ['PID|1||L1', 'PV1|1|I|W', 'AL1|1|FA|P^Peanut', 'DG1|1||I10^Hypertension', 'PR1|1||1^Procedure'],
		'ADT^A40': ['PID|1||L1', 'MRG|L2'],
		'ORU^R01': ['PID|1||L1', 'OBR|1|P1|F1|1^A^LN', 'OBX|1|ST|1^A^LN||a||||||F', 'NTE|1||a'],
	};
	for (const [type, lines] of Object.entries(segments)) {
		const header = ['MSH|^~\\&', 'APP', 'FAC', 'R', 'RF', '20260101120000', '', type, newId(), 'P', '2.5.1'];
		const base = [header.join('|'), 'EVN||20260101120000', ...lines];
		for (const [index, line] of base.entries()) {
			for (let field = 1; field < (index === 0 ? 20 : fieldsMax); field++) {
				for (const value of [long(), Array.from({ length: 6 }, long).join('^')]) {
					const fields = line.split('|');
					while (fields.length <= field) fields.push('');
					fields[field] = value;
					yield hl7v2(`${base.with(index, fields.join('|')).join('\r')}\r`);
				}
			}
		}
	}
}

function* resources(): Iterable<Delivery> {
	const reference = { reference: 'Patient/unknown', display: 'x', identifier: { system: 'urn:x', value: 'P' } };
	const identifier = [{ system: 'urn:x', value: 'A', type: coded('urn:t', 'MR') }];
	const samples: Json[] = [
		patient({
			identifier,
			name: [{ family: 'Doe', given: ['Jane'] }],
			gender: 'female',
			birthDate: '1970-01-31',
			address: [{ city: 'Town', country: 'NL', line: ['A'], postalCode: '1' }],
			telecom: [{ system: 'phone', value: '1' }],
			meta: { tag: [{ system: 'urn:x', code: 'a' }], profile: ['urn:x'], source: 'urn:x' },
		}),
		observation({ identifier, subject: reference, code: coded('urn:c', 'A'), valueString: 'a', category: [coded('urn:c', 'vital')] }),
		document({ contentType: 'text/plain', url: 'urn:x', title: 'a' }),
		encounter({ identifier, subject: reference }),
		{ resourceType: 'Organization', identifier, name: 'a', alias: ['b'] },
		{ resourceType: 'Practitioner', identifier, name: [{ family: 'a' }] },
		{ resourceType: 'Location', identifier, name: 'a', type: [coded('urn:c', 'A')] },
		{
			resourceType: 'ServiceRequest',
			identifier,
			status: 'active',
			intent: 'order',
			subject: reference,
			code: coded('urn:c', 'A'),
			requisition: identifier[0] ?? null,
		},
		{ resourceType: 'DiagnosticReport', identifier, status: 'final', code: coded('urn:c', 'A'), subject: reference },
		{
			resourceType: 'ImagingStudy',
			identifier,
			status: 'available',
			subject: reference,
			series: [{ uid: '1.2', modality: { code: 'CT' }, instance: [{ uid: '1.3', sopClass: { code: 'urn:oid:1.2' } }] }],
		},
		{ resourceType: 'Library', status: 'active', type: coded('urn:c', 'A'), url: 'urn:x', name: 'a', title: 'a', version: '1' },
	];
	for (const sample of samples) {
		yield fhir(sample);
		for (const other of lengthened(sample)) yield fhir(other);
	}
}

/** Every attribute and every text of a document. */
function* documents(): Iterable<Delivery> {
	const statement =
		'<procedure classCode="PROC" moodCode="EVN"><id root="1.2.3" extension="E1"/><code code="1" codeSystem="2.16.840.1.113883.6.1" displayName="a"/>' +
		'<statusCode code="completed"/><effectiveTime value="2020"/></procedure>';
	const body = `<component><structuredBody>${section('47519-4', entry(statement), 'text')}</structuredBody></component>`;
	const text = clinicalDocument({ body, set: 'root="1.9" extension="S1"', version: 1 });
	for (const { index, 0: found } of text.matchAll(/(?<=[a-zA-Z]=")[^"]+(?=")|(?<=>)[^<>\n]+(?=<)/g)) {
		// Names of the language are none of the sender's values.
		if (/^(urn:hl7-org|http:)/.test(found) || index < 60) continue;
		yield hl7v3(text.slice(0, index) + long() + text.slice(index + found.length));
	}
}

function* reports(): Iterable<Delivery> {
	const report = {
		sop_instance_uid: '1.2.3.4',
		study_uid: '1.2.3',
		status: 'IN PROGRESS',
		accession_number: 'A1',
		patient_id: 'P1',
		patient_name: 'Doe^Jane',
		modality: 'CT',
		station_ae_title: 'CT1',
		procedure_description: 'a',
	};
	for (const other of lengthened(report)) yield mpps(other);
}

describe('a text of 3,000 characters that no index takes', () => {
	let database: TestDatabase;
	let runner: BatchRunner;
	before(async () => {
		database = await testDatabase();
		runner = new BatchRunner(database.url, (delivery) => interpretDelivery(delivery, interpretContext));
	});
	after(async () => {
		await runner[Symbol.asyncDispose]();
		await database[Symbol.asyncDispose]();
	});

	const sources: [where: string, deliveries: () => Iterable<Delivery>, least: number][] = [
		['any field of HL7 v2', messages, 1000],
		['any element of a resource', resources, 100],
		['any attribute or text of a document', documents, 30],
		['any member of a procedure step report', reports, 5],
	];
	for (const [where, deliveries, least] of sources) {
		test(`in ${where} is stored or refused by a rule that names it, never by the database, and its neighbours are accepted`, async () => {
			const all = [...deliveries()];
			assert.ok(all.length >= least, `${all.length} deliveries`);
			for (let at = 0; at < all.length; at += 40) {
				const neighbour = hl7v2(`MSH|^~\\&|APP|FAC|R|RF|20260101120000||ADT^A08|${newId()}|P|2.5.1\rPID|1||N1\r`);
				const replies: (Reply | undefined)[] = await runner.process([...all.slice(at, at + 40), neighbour]);
				for (const [index, reply] of replies.entries()) {
					const given = Buffer.from(all[at + index]?.bytes ?? [])
						.toString()
						.slice(0, 300);
					assert.ok(reply !== undefined, `not answered: ${given}`);
					assert.notEqual(reply.failure?.code, 'internal', `${reply.failure?.diagnostics}: ${given}`);
				}
				assert.equal(replies.at(-1)?.outcome, 'accepted');
			}
		});
	}
});
