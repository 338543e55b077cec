import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { linesThatDiffer } from '#administration/line-difference.ts';
import { changeOf } from '#administration/remedies/explain.ts';
import { explain, explanations, type Standard, standardOf } from '#administration/remedies/explanations.ts';
import { locationOf, placeName } from '#administration/remedies/fault.ts';
import { type Mendable, remedies, remediesFor, remedyNames, remedyOf } from '#administration/remedies/table.ts';
import { type FailureCode, failureCodes } from '#core/failure.ts';
import { nilId } from '#core/id.ts';
import { deliveryKinds } from '#record/delivery.ts';
import { noSettings, type SettingName, settingFault } from '#record/settings/settings.ts';
import { registryMessage } from '#test/support/hl7v3.ts';

const src = join(import.meta.dirname, '../../src');

/** The rooms whose failures the message log keeps, by the standard of the messages. What rooms share can refuse messages of each. */
const shared = ['record', 'ingest'];
const rooms: Readonly<Record<Exclude<Standard, 'own'>, readonly string[]>> = {
	hl7v2: ['hl7v2', ...shared],
	hl7v3: ['hl7v3', 'cda', ...shared],
	fhir: ['fhir', ...shared],
	dicom: ['mpps', 'dicom', 'imaging', ...shared],
};

function codesOf(room: string): Set<FailureCode> {
	const files = readdirSync(join(src, room), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
	const texts = files.map((name) => readFileSync(join(src, room, name), 'utf8')).join('\n');
	const named = Object.keys(failureCodes).filter((code) => new RegExp(`'${code}'|\\b${code}: \\{`).test(texts));
	return new Set(named as FailureCode[]);
}

describe('the explanations of failures', () => {
	test('exist for every code that each format can be refused with, with the section of its standard, and say it in sentences', () => {
		const seen: string[] = [];
		for (const [standard, names] of Object.entries(rooms)) {
			for (const code of new Set(names.flatMap((room) => [...codesOf(room)]))) {
				const { wrong, asks, section } = explain(code, standard as Standard);
				assert.match(wrong, /^[A-Z][^.]*\.$/, code);
				assert.match(asks, /^[A-Z].*\.$/, code);
				assert.match(section, /^(HL7 v2\.5\.1|HL7 v3|FHIR R4|DICOM) \S/, `${code} of ${standard}`);
				seen.push(`${standard} ${code}`);
			}
		}
		for (const pair of ['hl7v2 unsupported-event', 'hl7v3 not-hl7', 'fhir invalid-resource', 'dicom conflict'])
			assert.ok(seen.includes(pair), pair);
		assert.ok(seen.length > 60, String(seen.length));
	});

	test('are one for each failure code, and each kind of message has a standard', () => {
		assert.deepEqual(Object.keys(explanations).sort(), Object.keys(failureCodes).sort());
		for (const kind of deliveryKinds) assert.ok(standardOf(kind));
	});

	for (const [code, location, wrong, section] of [
		['required-field-missing', { segment: 'PID', sequence: 1, field: 3 }, 'PID-3 (Patient Identifier List): a value', '§3.4.2.3'],
		['required-field-missing', { segment: 'OBX', sequence: 4, field: 3 }, 'OBX-3 (Observation Identifier) of segment no. 4: a', '§7.4.2.3'],
		['unsupported-processing-id', { segment: 'MSH', field: 11 }, 'MSH-11 (Processing ID): the message', '§2.9.2 and §2.15.9.11'],
		['value-too-long', { segment: 'PID', field: 3, component: 1 }, 'PID-3.1 (Patient Identifier List, ID Number): a', '§2.5.3.2'],
		['segment-sequence', { segment: 'ZZZ' }, 'ZZZ: a segment', '§2.12'],
	] as const) {
		test(`name the place: ${placeName(location)}`, () => {
			const explained = explain(code, 'hl7v2', location);
			assert.ok(explained.wrong.startsWith(wrong), explained.wrong);
			assert.ok(explained.section.startsWith(`HL7 v2.5.1 ${section}`), explained.section);
		});
	}

	test('find the place in ERR-2 by the delimiters of the sender, else in the failure text', () => {
		const at = (kind: Mendable['kind'], ack: string, failure: string) => locationOf({ kind, ack: Buffer.from(ack), failure });
		assert.deepEqual(at('hl7v2', 'MSH|^~\\&|||\rMSA|AE|1\rERR||PID^1^3^2^1|101\r', ''), {
			...{ segment: 'PID', sequence: 1, field: 3, repetition: 2, component: 1 },
		});
		assert.deepEqual(at('hl7v2', 'MSH#*~\\&###\rERR##OBX*2*5#102\r', ''), { segment: 'OBX', sequence: 2, field: 5 });
		assert.deepEqual(at('hl7v2', '', 'PV1-19.1 is missing'), { segment: 'PV1', sequence: 1, field: 19, component: 1 });
		assert.equal(at('hl7v2', '', 'the message has no PID'), undefined);
		const answer = JSON.stringify({ resourceType: 'OperationOutcome', issue: [{}, { expression: ['Patient.name[0].family'] }] });
		assert.deepEqual(at('fhir', answer, 'This element is required'), { expression: 'Patient.name[0].family' });
		assert.deepEqual(at('fhir', '', 'Observation.component[2].code: is required'), { expression: 'Observation.component[2].code' });
	});
});

const message: Mendable = {
	id: '01a20000-0000-7000-8000-000000000001',
	site: 'north',
	clientId: '01a20000-0000-7000-8000-000000000002',
	source: '10.1.2.3',
	kind: 'hl7v2',
	messageType: 'ADT^A31',
	outcome: 'refused',
	code: null,
	text: '',
	flags: [],
	location: undefined,
	settings: noSettings,
	bytes: Buffer.from('MSH|^~\\&|A|B|||20260105||ADT^A31|1|T|2.5.1\r'),
};

/** An HL7 v3 message for training. */
const training = registryMessage({ patients: [], processingCode: '<processingCode code="T"/>' });

describe('the remedies', () => {
	const cases: readonly (readonly [name: string, given: Partial<Mendable>, found: readonly string[]])[] = [
		['an event for which a sender can opt in', { code: 'unsupported-event', messageType: 'ADT^A28' }, ['accept-event', 'ignore-event']],
		['an event that nobody reads', { code: 'unsupported-event', messageType: 'ADT^A60' }, ['ignore-event']],
		['a type that nobody reads', { code: 'unsupported-message-type', messageType: 'ORM^O01' }, ['ignore-event']],
		['a type without an event', { code: 'unsupported-message-type', messageType: 'ORM' }, []],
		['a training message', { code: 'unsupported-processing-id' }, ['accept-processing-id']],
		[
			'a training message of HL7 v3',
			{ kind: 'hl7v3', code: 'unsupported-processing-id', bytes: Buffer.from(training) },
			['accept-processing-id'],
		],
		[
			'a processing code that is none',
			{ kind: 'hl7v3', code: 'unsupported-processing-id', bytes: Buffer.from(training.replace('"T"', '"TEST"')) },
			[],
		],
		['a result that cannot be read', { code: 'data-type', location: { segment: 'OBX', field: 5 } }, ['leave-out-results']],
		['a UID with leading zeros', { kind: 'mpps', code: 'unprocessable', text: 'study is not a UID (no leading zeros)' }, ['lenient-uids']],
		[
			'a report of a FHIR client',
			{ kind: 'fhir', code: 'method-not-allowed', text: 'the setting report_writes of' },
			['clients-write-reports'],
		],
		['a deletion', { kind: 'fhir', code: 'method-not-allowed', text: 'the setting deletes of the site' }, ['clients-delete']],
		['an assumed zone', { outcome: 'accepted', flags: ['time-zone-assumed'] }, ['set-time-zone']],
		['a sender without a grant', { code: 'sender-not-authorized' }, ['extend-client']],
		['a number of two patients', { code: 'ambiguous-key' }, ['join-authorities']],
		['an image of another patient', { outcome: 'accepted', flags: ['other-patient'] }, ['link-study']],
		['a missing field', { code: 'required-field-missing', location: { segment: 'PID', field: 3 } }, []],
	];
	for (const [name, given, found] of cases) {
		test(`of ${name}: ${found.join(', ') || 'none'}`, () => {
			const about = { ...message, ...given };
			assert.deepEqual(remediesFor(about), found);
			for (const one of remediesFor(about)) {
				assert.doesNotMatch(remedyOf(one).title(about), /undefined|10\.1\.2\.3/);
				if (remedyOf(one).kind === 'place') continue;
				const { settings } = changeOf(about, one, 'Europe/Berlin');
				for (const [setting, value] of Object.entries(settings)) assert.equal(settingFault(setting as SettingName, value), undefined);
			}
		});
	}

	test('are each suggested by a case', () => {
		assert.deepEqual(new Set(cases.flatMap(([, , found]) => found)), new Set(remedyNames));
		assert.ok(Object.values(remedies).every(({ effect }) => /^[A-Z].*\.$/.test(effect)));
	});

	test('keep what is set, and change the sender where a sender can have the setting, else the site', () => {
		const change = (given: Partial<Mendable>, name: (typeof remedyNames)[number]) => changeOf({ ...message, ...given }, name);
		assert.deepEqual(change({ code: 'unsupported-event', settings: { ignore: ['A60'] } }, 'ignore-event'), {
			...{ subject: { of: 'client', id: message.clientId }, settings: { ignore: ['A60', 'ADT^A31'] } },
		});
		const byKey = { code: 'unsupported-processing-id', clientId: nilId, source: 'abcdefgh' };
		assert.deepEqual(change(byKey, 'accept-processing-id'), {
			subject: { of: 'key', id: 'abcdefgh' },
			settings: { processing_ids: ['P', 'T'] },
		});
		const deletion = { kind: 'fhir' as const, clientId: nilId, source: 'abcdefgh', text: 'the setting deletes of the site' };
		assert.deepEqual(change(deletion, 'clients-delete').subject, { of: 'site', id: 'north' });
		assert.throws(() => changeOf({ ...message, flags: ['time-zone-assumed'] }, 'set-time-zone', 'Berlin'), { field: 'value' });
		assert.throws(() => changeOf({ ...message, code: 'ambiguous-key' }, 'join-authorities'), { field: 'remedy' });
	});
});

describe('the difference of two texts', () => {
	for (const [name, before, after, marks] of [
		['nothing', 'a\nb', 'a\nb', ['left-out']],
		['a changed line', 'a\nb\nc', 'a\nx\nc', ['same', 'removed', 'added', 'same']],
		['a line that came', 'a\nc', 'a\nb\nc', ['same', 'added', 'same']],
		[
			'a line that went, far from both ends',
			'a\nb\nc\nd\ne\nf\ng',
			'a\nb\nc\ne\nf\ng',
			['left-out', 'same', 'same', 'removed', 'same', 'same', 'left-out'],
		],
		['two changes with a line between', 'a\nb\nc', 'x\nb\ny', ['removed', 'added', 'same', 'removed', 'added']],
	] as const) {
		test(name, () => {
			assert.deepEqual(
				linesThatDiffer(before, after).map(({ mark }) => mark),
				marks,
			);
		});
	}
});
