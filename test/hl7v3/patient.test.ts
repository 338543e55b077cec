import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { Json } from '#core/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { interpret, receive } from '#hl7v3/interpret.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { plainReading, registryMessage, replacementOf } from '#test/support/hl7v3.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { without } from '#test/support/needs.ts';
import { defaultLimits } from '../../src/limits.ts';

const read = (text: string | Buffer, authority?: string): ChangeSet =>
	interpret(receive(Buffer.from(text as string), defaultLimits), {
		...plainReading,
		settings: { ...plainReading.settings, ...(authority && { default_authority: authority }) },
	});

function patient(content: string, authority?: string): PatientChange & { flags: string[] } {
	const set = read(registryMessage({ patients: [content] }), authority);
	const [change] = set.changes;
	if (change?.kind !== 'patient') return assert.fail('there is no patient');
	return { ...change, flags: set.flags.map(({ text }) => text) };
}

const person = (content: string, id = '<id root="1.2.3" extension="1"/>') => patient(`${id}<patientPerson>${content}</patientPerson>`);
const elements = (content: string): Record<string, Json> => person(content).patch.elements;

function failureOf(text: string): Failure {
	try {
		read(text);
	} catch (error) {
		if (error instanceof Failure) return error;
		throw error;
	}
	return assert.fail('nothing was refused');
}

describe('ids', () => {
	test('with an empty extension name nobody: their root would be the number of all who have none', () => {
		const empty = '<id root="1.2.3" extension=" "/>';
		assert.equal(failureOf(registryMessage({ patients: [`${empty}<patientPerson/>`] })).code, 'required-field-missing');
		assert.deepEqual(person('', `${empty}<id root="1.2.4" extension="B"/>`).identifiers, [{ value: 'B', system: 'urn:oid:1.2.4' }]);
	});

	test('root and extension, an authority by name only, and a root that is the identifier', () => {
		const { identifiers } = person(
			'<id root="1.2.9" extension="own"/>',
			'<id nullFlavor="UNK"/><id root="1.2.3" extension="A" assigningAuthorityName="North"/><id extension="B" assigningAuthorityName="South 1"/>' +
				'<id root="2.25.7"/><id root="21ACF7BE-007c-41e6-b176-d0969794983b" extension="C"/><id root="local" extension="D"/>',
		);
		assert.deepEqual(identifiers, [
			{ value: 'A', system: 'urn:oid:1.2.3', assigner: { display: 'North' } },
			{ value: 'B', system: 'urn:id:South%201' },
			{ value: 'urn:oid:2.25.7', system: 'urn:ietf:rfc:3986' },
			{ value: 'C', system: 'urn:uuid:21acf7be-007c-41e6-b176-d0969794983b' },
			{ value: 'D', system: 'urn:id:local' },
			{ value: 'own', system: 'urn:oid:1.2.9' },
		]);
		assert.deepEqual(patient('<id extension="E"/>', 'urn:oid:9').identifiers, [{ value: 'E', system: 'urn:oid:9' }]);
	});

	test('asOtherIDs: social security numbers and licences are of their kind, others stand behind the own ids', () => {
		const { patch } = person(
			'<asOtherIDs><id root="2.16.840.1.113883.4.1" extension="123-45-6789"/></asOtherIDs>' +
				'<asOtherIDs><id root="2.16.840.1.113883.4.3.6" extension="L1"/></asOtherIDs>' +
				'<asOtherIDs><id root="1.5" extension="E1"/><id nullFlavor="NI"/><scopingOrganization><name>Works</name></scopingOrganization></asOtherIDs>',
		);
		const parts = patch.parts['identifier'];
		assert.deepEqual(
			parts?.['PID-3']?.map(({ value }) => value),
			['1', 'E1'],
		);
		assert.deepEqual(parts?.['PID-3']?.[1]?.['assigner'], { display: 'Works' });
		assert.equal(parts?.['SS']?.[0]?.['system'], 'http://hl7.org/fhir/sid/us-ssn');
		assert.equal(parts?.['DL']?.[0]?.['system'], 'urn:oid:2.16.840.1.113883.4.3.6');
	});

	test('a patient without an id, and an id that is too long, refuse the message', () => {
		assert.equal(failureOf(registryMessage({ patients: ['<patientPerson/>'] })).code, 'required-field-missing');
		assert.equal(failureOf(registryMessage({ patients: ['<id nullFlavor="UNK"/>'] })).code, 'required-field-missing');
		assert.equal(failureOf(registryMessage({ patients: [`<id root="1.2" extension="${'1'.repeat(251)}"/>`] })).code, 'value-too-long');
	});
});

describe('names', () => {
	test('parts with their qualifiers', () => {
		const qualifier = (valueCode: string) => ({
			extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/iso21090-EN-qualifier', valueCode }],
		});
		assert.deepEqual(
			elements(
				'<name use="L"><prefix qualifier="AC">Dr. </prefix><prefix>Lady</prefix><given>Mary\n Rose</given><family>Smith</family></name>',
			)['name'],
			[
				{
					use: 'official',
					text: 'Dr. Lady Mary Rose Smith',
					family: 'Smith',
					given: ['Mary Rose'],
					prefix: ['Dr.', 'Lady'],
					_prefix: [qualifier('AC'), null],
				},
			],
		);
	});

	test('a name at birth and a name to be called by are names of their own', () => {
		const names =
			'<name use="L"><given>Ann</given><given qualifier="CL">Annie</given><family>New</family><family qualifier="BR">Old</family></name>';
		assert.deepEqual(elements(names)['name'], [
			{ use: 'official', text: 'Ann New', family: 'New', given: ['Ann'] },
			{ use: 'maiden', text: 'Ann Old', family: 'Old', given: ['Ann'] },
			{ use: 'nickname', text: 'Annie', given: ['Annie'] },
		]);
		assert.deepEqual(elements('<name><given>Anne</given><family qualifier="BR">Dean</family></name>')['name'], [
			{ use: 'maiden', text: 'Anne Dean', family: 'Dean', given: ['Anne'] },
		]);
	});

	test('in letters, in ideograms and as they are spoken say how they are written', () => {
		const written = (valueCode: string) => ({
			extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/iso21090-EN-representation', valueCode }],
		});
		const name = (use: string, family: string, given: string) =>
			`<name use="${use}"><family>${family}</family><given>${given}</given></name>`;
		assert.deepEqual(elements(name('L ABC', 'Yamada', 'Tarou') + name('IDE', '山田', '太郎') + name('SYL L', 'やまだ', 'たろう'))['name'], [
			{ ...written('ABC'), use: 'official', text: 'Tarou Yamada', family: 'Yamada', given: ['Tarou'] },
			{ ...written('IDE'), text: '太郎 山田', family: '山田', given: ['太郎'] },
			{ ...written('SYL'), use: 'official', text: 'たろう やまだ', family: 'やまだ', given: ['たろう'] },
		]);
	});

	test('plain text, a period, and nothing at all', () => {
		assert.deepEqual(elements('<name>Unknown</name>')['name'], [{ text: 'Unknown' }]);
		assert.deepEqual(
			elements('<name use="OLD"><family>A</family><validTime><low value="2001"/><high value="20020304"/></validTime></name>')['name'],
			[{ use: 'old', text: 'A', family: 'A', period: { start: '2001', end: '2002-03-04' } }],
		);
		assert.deepEqual(elements('<name><family>A</family><validTime><low value="2002"/><high value="2001"/></validTime></name>')['name'], [
			{ text: 'A', family: 'A', period: { start: '2002' } },
		]);
		const widths = '<name><family>A</family><validTime><width value="2" unit="a"/><high value="2002"/></validTime></name>';
		assert.deepEqual(elements(widths)['name'], [{ text: 'A', family: 'A', period: { start: '2000', end: '2002' } }]);
		for (const nothing of ['<name/>', '<name nullFlavor="MSK"><family>A</family></name>', '<name><family nullFlavor="UNK"/></name>', '']) {
			assert.equal(elements(nothing)['name'], undefined, nothing);
		}
	});
});

describe('telecoms and addresses', () => {
	test('schemes and uses', () => {
		const telecom = person(
			'<telecom use="HP" value="tel:+1-555%20123"/><telecom use="MC WP" value="tel:2"/><telecom use="PG" value="tel:3"/><telecom value="fax:4"/>' +
				'<telecom use="WP" value="mailto:a@b.org"/><telecom value="https://a.org/x"/><telecom value="076 420"/><telecom value="a@b.org"/>' +
				'<telecom nullFlavor="UNK"/><telecom/><telecom use="BAD" value="sip:5"/>',
		).patch.parts['telecom']?.['all'];
		assert.deepEqual(telecom, [
			{ system: 'phone', value: '+1-555 123', use: 'home' },
			{ system: 'phone', value: '2', use: 'mobile' },
			{ system: 'pager', value: '3' },
			{ system: 'fax', value: '4' },
			{ system: 'email', value: 'a@b.org', use: 'work' },
			{ system: 'url', value: 'https://a.org/x' },
			{ system: 'phone', value: '076 420' },
			{ system: 'email', value: 'a@b.org' },
			{ system: 'other', value: 'sip:5', use: 'old' },
		]);
	});

	test('an address by lines, by parts, and as text', () => {
		assert.deepEqual(
			elements(
				'<addr use="HP PST"><streetName>Main St</streetName><houseNumber>5</houseNumber><unitID>3b</unitID><city>X</city><county>Y</county></addr>' +
					'<addr>Anywhere 1, Town</addr><addr/><addr nullFlavor="NI"><city>Z</city></addr>',
			)['address'],
			[
				{ use: 'home', type: 'postal', text: 'Main St 5, 3b, X, Y', line: ['Main St 5', '3b'], city: 'X', district: 'Y' },
				{ text: 'Anywhere 1, Town' },
			],
		);
	});
});

describe('what else is said of a person', () => {
	test('gender: the three codes, an unknown one, and none', () => {
		assert.equal(elements('<administrativeGenderCode code="UN"/>')['gender'], 'other');
		const odd = person('<administrativeGenderCode code="Q"/>');
		assert.equal(odd.patch.elements['gender'], 'unknown');
		assert.match(odd.flags[0] ?? '', /administrativeGenderCode has a code/);
		assert.ok(!('gender' in elements('<administrativeGenderCode nullFlavor="UNK"/>')));
	});

	test('death and multiple birth are one element each, and the precise one wins', () => {
		const { deceasedDateTime, deceasedBoolean, multipleBirthInteger, multipleBirthBoolean } = elements(
			'<deceasedInd value="true"/><deceasedTime value="20200102"/><multipleBirthInd value="true"/><multipleBirthOrderNumber value="2"/>',
		);
		assert.deepEqual([deceasedDateTime, deceasedBoolean, multipleBirthInteger, multipleBirthBoolean], ['2020-01-02', null, 2, null]);
		assert.equal(elements('<deceasedInd value="false"/>')['deceasedDateTime'], null);
		assert.deepEqual(elements('<deceasedInd value="maybe"/><multipleBirthOrderNumber value="x"/>'), {});
	});

	test('the mother gives her maiden name, other related persons are noted', () => {
		const relationship = (code: string) =>
			`<personalRelationship><code code="${code}"/><relationshipHolder1><name><family qualifier="BR">${code}</family></name></relationshipHolder1></personalRelationship>`;
		const { patch, flags } = person(relationship('FTH') + relationship('MTH'));
		assert.deepEqual(Object.values(patch.parts['extension'] ?? {}), [
			[{ url: 'http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName', valueString: 'MTH' }],
		]);
		assert.match(flags[0] ?? '', /personalRelationship\[1\] was left out/);
	});

	test('confidentiality becomes security labels of the Patient, which later messages keep or replace', () => {
		const site = new MemorySite();
		const send = (more: string) =>
			site.apply(read(registryMessage({ patients: [`<id root="1.2" extension="1"/>${more}<patientPerson/>`] })));
		const meta = () => site.rows('Patient').map((row) => JSON.parse(row.meta ?? 'null'));
		const label = (code: string) => ({ security: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code }] });
		send('<confidentialityCode code="R"/>');
		assert.deepEqual(meta().at(-1), label('R'));
		send('');
		assert.deepEqual(meta().at(-1), label('R'));
		send('<confidentialityCode nullFlavor="NI"/>');
		assert.deepEqual(meta().at(-1), label('R'));
		send('<confidentialityCode code="V" codeSystem="2.16.840.1.113883.5.25"/>');
		assert.deepEqual(meta().at(-1), label('V'));
	});
});

describe('structure', () => {
	test('what is missing is named with its place', () => {
		const complete = registryMessage({ patients: ['<id root="1.2" extension="1"/>'] });
		for (const [cut, location] of [
			[/<controlActProcess.*<\/controlActProcess>/, '/PRPA_IN201301UV02'],
			[/<subject .*<\/subject>/, '/PRPA_IN201301UV02/controlActProcess'],
			[/<registrationEvent.*<\/registrationEvent>/, '/PRPA_IN201301UV02/controlActProcess/subject'],
			[/<subject1.*<\/subject1>/, '/PRPA_IN201301UV02/controlActProcess/subject/registrationEvent'],
			[/<id root="1.2.3.4"[^>]*>/, '/PRPA_IN201301UV02'],
		] as const) {
			assert.equal(failureOf(complete.replace(cut, '')).location?.expression, location);
		}
	});

	test('a merge names its prior patients, several of them too', () => {
		const merge = (behind: string) =>
			registryMessage({ interaction: 'PRPA_IN201304UV02', patients: ['<id root="1.2" extension="1"/>'], behind });
		assert.equal(failureOf(merge('')).code, 'required-field-missing');
		assert.equal(failureOf(merge(replacementOf('nullFlavor="UNK"'))).code, 'required-field-missing');
		const { changes } = read(merge(replacementOf('root="1.2" extension="2"') + replacementOf('root="1.2" extension="3"')));
		assert.deepEqual(
			changes.map((change) => (change.kind === 'merge' ? change.prior[0].value : change.kind)),
			['patient', '2', '3'],
		);
		const site = new MemorySite();
		site.apply(read(registryMessage({ patients: ['<id root="1.2" extension="2"/>', '<id root="1.2" extension="3"/>'] })));
		site.apply({ changes, flags: [] });
		const active = site.resources('Patient').map((resource) => resource['active']);
		assert.deepEqual(active.toSorted(), [false, false, true]);
	});

	test('what the shared corpus registers is valid FHIR', { skip: without('corpus') }, () => {
		for (const { path, bytes } of corpusFiles('hl7v3').filter(({ expect }) => expect === 'accept')) {
			const site = new MemorySite();
			site.apply(read(bytes));
			for (const resource of site.resources('Patient')) {
				assert.deepEqual(validateResource({ resourceType: 'Patient', ...resource }), [], path);
			}
		}
	});
});
