import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readEntries } from '#cda/entries.ts';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { interpret, receive } from '#hl7v3/interpret.ts';
import { documents } from '#record/holdings/documents.ts';
import type { Settings } from '#record/settings/settings.ts';
import { clinicalDocument, grace, read, relatedDocument, type TestDocument } from '#test/support/cda.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { plainReading, registryMessage } from '#test/support/hl7v3.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { without } from '#test/support/needs.ts';
import { defaultLimits } from '../../src/limits.ts';

function siteOf(document: TestDocument): { site: MemorySite; flags: string[] } {
	const site = new MemorySite();
	const set = read(clinicalDocument(document));
	site.apply(set);
	for (const resource of site.all()) assert.deepEqual(validateResource(resource), []);
	return { site, flags: set.flags.map(({ text }) => text) };
}

function referenceOf(document: TestDocument): JsonObject {
	const [resource] = siteOf(document).site.resources('DocumentReference');
	return resource ?? assert.fail('there is no document');
}

const patientOf = (role: string): JsonObject =>
	siteOf({ patients: [role] }).site.resources('Patient')[0] ?? assert.fail('there is no patient');

const loinc = 'http://loinc.org';

describe('the header', () => {
	test('is DocumentReference, element for element', () => {
		const text = clinicalDocument({
			set: 'root="1.2.3.5" extension="S"',
			version: 3,
			templates:
				'<templateId root="2.16.840.1.113883.10.20.22.1.1"/><templateId root="2.16.840.1.113883.10.20.22.1.1" extension="2015-08-01"/>',
			participants:
				'<legalAuthenticator><time value="20260111"/><signatureCode code="S"/><assignedEntity><id root="1.7" extension="L"/>' +
				'<assignedPerson><name><given>Mary</given><family>Jackson</family></name></assignedPerson></assignedEntity></legalAuthenticator>' +
				`${relatedDocument('APND', '<id root="1.6" extension="P"/>')}<documentationOf><serviceEvent classCode="PCPR">` +
				'<code code="PCPR" codeSystem="2.16.840.1.113883.5.4"/><effectiveTime><low value="2025"/><high value="20260110"/></effectiveTime>' +
				'</serviceEvent></documentationOf><componentOf><encompassingEncounter><id root="1.2.8" extension="V"/>' +
				'<effectiveTime value="202601"/><location><healthCareFacility><code code="HOSP" codeSystem="2.16.840.1.113883.5.111"/>' +
				'</healthCareFacility></location></encompassingEncounter></componentOf>',
		});
		const site = new MemorySite();
		site.apply(read(text));
		const [visit] = site.rows('Encounter');
		const [patient] = site.rows('Patient');
		const [row] = site.rows('DocumentReference');
		const { contained, content, ...resource } = JSON.parse(row?.text ?? '{}') as JsonObject;
		assert.deepEqual(resource, {
			masterIdentifier: { system: 'urn:oid:1.2.3.4', value: 'D1' },
			identifier: [{ system: 'urn:oid:1.2.3.5', value: 'S' }],
			docStatus: 'final',
			type: {
				coding: [{ system: loinc, code: '34133-9', display: 'Summarization of Episode Note' }],
				text: 'Summarization of Episode Note',
			},
			category: [
				{
					coding: [
						{
							system: 'http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category',
							code: 'clinical-note',
							display: 'Clinical Note',
						},
					],
				},
			],
			date: '2026-01-10T08:30:00+01:00',
			author: [{ type: 'Practitioner', identifier: { system: 'urn:oid:2.16.840.1.113883.4.6', value: '999' }, display: 'Ada Lovemore' }],
			authenticator: { type: 'Practitioner', identifier: { system: 'urn:oid:1.7', value: 'L' }, display: 'Mary Jackson' },
			custodian: { type: 'Organization', identifier: { system: 'urn:ietf:rfc:3986', value: 'urn:oid:1.9' }, display: 'General' },
			description: 'Summary',
			securityLabel: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'N' }] }],
			context: {
				encounter: [{ reference: `Encounter/${visit?.id}` }],
				event: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'PCPR' }] }],
				period: { start: '2025', end: '2026-01-10' },
				facilityType: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', code: 'HOSP' }] },
				sourcePatientInfo: { reference: '#patient' },
			},
			status: 'current',
			subject: { reference: `Patient/${patient?.id}` },
			relatesTo: [{ code: 'appends', target: { type: 'DocumentReference', identifier: { system: 'urn:oid:1.6', value: 'P' } } }],
		});
		const [source] = contained as JsonObject[];
		assert.deepEqual([source?.['id'], source?.['birthDate']], ['patient', '1906-12-09']);
		const [{ attachment, format }] = content as [{ attachment: JsonObject; format: JsonObject }];
		const { url, hash, ...described } = attachment;
		assert.match(String(url), /^Binary\//);
		assert.match(String(hash), /^[\w+/]{27}=$/);
		assert.deepEqual(described, {
			contentType: 'text/xml',
			language: 'en-US',
			size: Buffer.byteLength(text),
			title: 'Summary',
			creation: '2026-01-10T08:30:00+01:00',
		});
		assert.equal(format['code'], 'urn:hl7-org:sdwg:ccda-structuredBody:2.1');
		for (const one of site.all()) assert.deepEqual(validateResource(one), []);
	});

	test('says no more than it knows: times, formats, signatures', () => {
		const day = referenceOf({ effectiveTime: '20260110' });
		assert.deepEqual([day['date'], day['docStatus']], ['2026-01-10T00:00:00Z', undefined]);
		const year = referenceOf({ effectiveTime: '2026' });
		assert.equal(year['date'], undefined);
		const { attachment, format } = (year['content'] as JsonObject[])[0] as { attachment: JsonObject; format?: JsonObject };
		assert.deepEqual([attachment['creation'], format], ['2026', undefined]);
		const { flags } = siteOf({ effectiveTime: 'yesterday', version: 'two', set: 'root="1.5"' });
		assert.deepEqual(flags, [
			'/ClinicalDocument/effectiveTime is not a time and was left out',
			'/ClinicalDocument/versionNumber is no number; versions of the set are told by their time',
		]);
		const parents = siteOf({ participants: relatedDocument('RPLC', '<id nullFlavor="NI"/>') + relatedDocument('X', '<id root="1"/>') });
		assert.equal(parents.flags.length, 2);
	});

	test('an author is a person, a device, or the organization', () => {
		const author = (content: string) => {
			const [, ...others] = referenceOf({
				header: '',
				participants: `<author><assignedAuthor>${content}</assignedAuthor></author>`,
			})['author'] as JsonObject[];
			return others[0];
		};
		assert.deepEqual(author('<id nullFlavor="NI"/><assignedAuthoringDevice><softwareName>EHR</softwareName></assignedAuthoringDevice>'), {
			type: 'Device',
			display: 'EHR',
		});
		assert.deepEqual(author('<id nullFlavor="NI"/><representedOrganization><name>North</name></representedOrganization>'), {
			type: 'Organization',
			display: 'North',
		});
		assert.equal(author('<id nullFlavor="NI"/>'), undefined);
	});

	test('a document without id of its own, or of its patient, is refused where it stands', () => {
		for (const [document, code, expression] of [
			[{ id: 'nullFlavor="NI"' }, 'required-field-missing', '/ClinicalDocument/id'],
			[{ id: `root="1.2" extension="${'9'.repeat(300)}"` }, 'value-too-long', '/ClinicalDocument/id'],
			[{ patients: ['<id nullFlavor="NI"/>', grace('1')] }, 'required-field-missing', '/ClinicalDocument/recordTarget[1]/patientRole/id'],
			[{ patients: [] }, 'segment-sequence', '/ClinicalDocument'],
		] as const) {
			assert.throws(
				() => read(clinicalDocument(document)),
				(error) => error instanceof Failure && error.code === code && error.location?.expression === expression,
			);
		}
		const other = clinicalDocument().replace('2.16.840.1.113883.1.3', '1.1');
		assert.throws(() => read(other), /not of CDA R2/);
		assert.doesNotThrow(() => read(clinicalDocument().replace(/<typeId[^>]*>/, '')));
	});

	test('more patients than the limit allows are refused, further parents are left out', () => {
		const patients = Array.from({ length: defaultLimits.documentPatientsMax + 1 }, (_, index) => grace(String(index)));
		assert.throws(() => read(clinicalDocument({ patients })), /more than 10 patients/);
		const parent = (id: number) => relatedDocument('APND', `<id root="1.6" extension="${id}"/>`);
		const { site, flags } = siteOf({ participants: [1, 2, 3].map(parent).join('') });
		const [reference] = site.resources('DocumentReference');
		assert.equal(((reference?.['relatesTo'] ?? []) as JsonObject[]).length, 1);
		assert.equal(flags.length, 2);
	});

	test('long ids that are no keys are kept, and refuse nothing', () => {
		const long = '9'.repeat(3000);
		const componentOf = `<componentOf><encompassingEncounter><id root="1.2" extension="${long}"/></encompassingEncounter></componentOf>`;
		const { site, flags } = siteOf({ set: `root="1.5" extension="${long}"`, version: 1, participants: componentOf });
		assert.equal(flags.length, 1);
		assert.equal(site.rows('Encounter').length, 0);
		assert.ok(String(site.rows('DocumentReference')[0]?.links['set_key']).length < 300);
	});
});

describe('the patient of a document', () => {
	test('is the same as that of a registry message', () => {
		const id = '<id root="1.2.3" extension="1"/>';
		const addr = '<addr use="HP"><streetAddressLine>Main 1</streetAddressLine><city>Town</city></addr>';
		const telecom = '<telecom use="MC" value="tel:+1-555"/><telecom value="mailto:a@b.org"/>';
		const person =
			'<name use="L"><given>Jane</given><family qualifier="BR">Roe</family><family>Doe</family></name>' +
			'<administrativeGenderCode code="UN"/><birthTime value="198002031105+0100"/>';
		const categories =
			'<maritalStatusCode code="M" codeSystem="2.16.840.1.113883.5.2"/><religiousAffiliationCode code="1013"/>' +
			'<raceCode code="2106-3" displayName="White" codeSystem="2.16.840.1.113883.6.238"/><ethnicGroupCode code="2186-5"/>';
		const language = '<languageCommunication><languageCode code="en-US"/><preferenceInd value="true"/></languageCommunication>';
		const message = registryMessage({
			creationTime: '20260110083000+0100',
			patients: [
				`${id}<patientPerson>${person}<multipleBirthOrderNumber value="2"/><deceasedTime value="2020"/>${categories}${addr}${telecom}` +
					`${language}<birthPlace><addr><city>Rome</city></addr></birthPlace></patientPerson>`,
			],
		});
		const registered = new MemorySite();
		registered.apply(interpret(receive(Buffer.from(message), defaultLimits), plainReading));
		const role =
			`${id}${addr}${telecom}<patient>${person}<sdtc:deceasedTime value="2020"/><sdtc:multipleBirthOrderNumber value="2"/>${categories}` +
			`<birthplace><place><addr><city>Rome</city></addr></place></birthplace>${language}</patient>`;
		assert.deepEqual(patientOf(role), registered.resources('Patient')[0]);
	});

	test('social security numbers and licences identify it only where there is nothing else', () => {
		const ssn = '<id root="2.16.840.1.113883.4.1" extension="999-11-2222"/>';
		const licence = '<id root="2.16.840.1.113883.4.3.36" extension="L1"/>';
		const both = read(clinicalDocument({ patients: [`${ssn}${licence}<id root="1.2.3" extension="MRN"/>`] })).changes[0];
		assert.ok(both?.kind === 'patient');
		assert.deepEqual(both.identifiers, [{ system: 'urn:oid:1.2.3', value: 'MRN' }]);
		const identifiers = patientOf(`${ssn}${licence}<id root="1.2.3" extension="MRN"/>`)['identifier'] as JsonObject[];
		assert.deepEqual(
			identifiers.map(({ system, value }) => [system, value]),
			[
				['urn:oid:1.2.3', 'MRN'],
				['http://hl7.org/fhir/sid/us-ssn', '999-11-2222'],
				['urn:oid:2.16.840.1.113883.4.3.36', 'L1'],
			],
		);
		const alone = read(clinicalDocument({ patients: [ssn] })).changes[0];
		assert.ok(alone?.kind === 'patient');
		assert.equal(alone.identifiers[0].value, '999-11-2222');
	});

	test('every race, guardians, and what is no date', () => {
		const role =
			'<id root="1.2.3" extension="1"/><patient><birthTime value="unknown"/><raceCode code="2106-3" displayName="White"/>' +
			'<sdtc:raceCode code="2028-9" displayName="Asian"/><guardian><code code="MTH" codeSystem="2.16.840.1.113883.5.111"/>' +
			'<telecom value="tel:1"/><guardianPerson><name><given>Anna</given><family>Doe</family></name></guardianPerson></guardian>' +
			'<guardian><guardianOrganization><name>Home</name></guardianOrganization></guardian><guardian/></patient>';
		const { site, flags } = siteOf({ patients: [role] });
		const [patient] = site.resources('Patient');
		assert.equal(patient?.['birthDate'], undefined);
		assert.deepEqual(flags, ['/ClinicalDocument/recordTarget/patientRole/patient/birthTime is not a date and was left out']);
		const [race] = (patient?.['extension'] ?? []) as { extension: { url: string }[] }[];
		assert.deepEqual(
			race?.extension.map(({ url }) => url),
			['ombCategory', 'ombCategory', 'text'],
		);
		const contacts = (patient?.['contact'] ?? []) as { name?: JsonObject; relationship: { coding: { code: string }[] }[] }[];
		assert.deepEqual(
			contacts.map(({ relationship }) => relationship.map(({ coding }) => coding[0]?.code)),
			[['GUARD', 'MTH'], ['GUARD']],
		);
		assert.equal(contacts[0]?.name?.['family'], 'Doe');
	});
});

describe('the body', () => {
	const embed = (attributes: string, content = '') => {
		const body = `<component><nonXMLBody><text ${attributes}>${content}</text></nonXMLBody></component>`;
		const { site, flags } = siteOf({ body });
		const [reference] = site.resources('DocumentReference');
		const contents = (reference?.['content'] ?? []) as { attachment: JsonObject }[];
		return { attachment: contents[1]?.attachment, flags, bytes: site.set.of(documents).binaries[1]?.bytes };
	};

	test('an embedded file is decoded by what it says of itself', () => {
		const pdf = embed('mediaType="application/PDF" representation="B64"', '\n JVBE\n Rg== \n');
		assert.equal(Buffer.from(pdf.bytes ?? '').toString(), '%PDF');
		assert.deepEqual([pdf.attachment?.['contentType'], pdf.attachment?.['size']], ['application/pdf', 4]);
		assert.equal(Buffer.from(embed('mediaType="image/png"', 'aWYx').bytes ?? '').toString(), 'if1');
		const parametered = embed('mediaType="text/plain; charset=ISO-8859-1"', 'Grüße');
		assert.equal(parametered.attachment?.['contentType'], 'text/plain;charset=UTF-8');
		assert.equal(Buffer.from(parametered.bytes ?? '').toString(), 'Grüße');
		const encoded = embed('mediaType="text/plain; charset=iso-8859-1" representation="B64"', '/A==');
		assert.equal(encoded.attachment?.['contentType'], 'text/plain;charset=iso-8859-1');
		assert.equal(embed('mediaType="application/pdf; name=x"', 'AAAA').attachment?.['contentType'], 'application/pdf');
		const plain = embed('', 'Grüße,\n  Ada &amp; co');
		assert.equal(Buffer.from(plain.bytes ?? '').toString(), 'Grüße,\n  Ada & co');
		assert.equal(plain.attachment?.['contentType'], 'text/plain;charset=UTF-8');
	});

	test('a URL is kept where it means something elsewhere, too', () => {
		const there = embed('mediaType="application/pdf"', '<reference value="https://example.org/a.pdf"/>');
		assert.deepEqual(there.attachment, { contentType: 'application/pdf', url: 'https://example.org/a.pdf' });
		for (const value of ['a.pdf', 'file:///a', 'javascript:alert(1)', 'https://']) {
			const { attachment, flags } = embed('mediaType="application/pdf"', `<reference value="${value}"/>`);
			assert.deepEqual([attachment, flags.length], [undefined, 1], value);
		}
	});

	test('what is no base64, is compressed, or is not there becomes no content', () => {
		for (const [attributes, content, flags] of [
			['representation="B64"', 'A', 1],
			['representation="B64"', 'A===', 1],
			['mediaType="application/pdf" representation="B64" compression="GZ"', 'AAAA', 1],
			['nullFlavor="NI"', '', 0],
			['mediaType="application/pdf" representation="B64"', ' ', 0],
		] as const) {
			const found = embed(attributes, content);
			assert.deepEqual([found.attachment, found.flags.length], [undefined, flags], attributes);
		}
	});
});

describe('the study of a document', () => {
	test('is named by the object catalog, else by the order', () => {
		const namesOf = (document: TestDocument) => {
			const change = read(clinicalDocument(document)).changes.find(({ kind }) => kind === 'document');
			return change?.kind === 'document' ? change.study : undefined;
		};
		const catalog =
			'<component><structuredBody><component><section><code code="121181" codeSystem="1.2.840.10008.2.16.4"/><entry><act classCode="ACT">' +
			'<id root="1.2.840.113619.2.62"/></act></entry></section></component></structuredBody></component>';
		const order = '<inFulfillmentOf><order><id root="1.2.4" extension="ACC1"/></order></inFulfillmentOf>';
		assert.deepEqual(namesOf({ body: catalog, participants: order }), { uid: '1.2.840.113619.2.62', accession: 'ACC1', filler: undefined });
		assert.deepEqual(namesOf({ participants: order }), { uid: undefined, accession: 'ACC1', filler: undefined });
	});
});

describe('an envelope', () => {
	const soap = (document: string, more = '') =>
		`<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:hl7-org:v3"${more}><s:Body>${document}</s:Body></s:Envelope>`;
	const cut = (text: string) => {
		const change = read(text).changes.find(({ kind }) => kind === 'document');
		return Buffer.from((change?.kind === 'document' && change.bytes[0]) || []).toString();
	};
	const bare = clinicalDocument().replace(/^<\?xml[^>]*\?>\n/, '');

	test('is left behind, and what it declares goes along', () => {
		const document = bare.replace(' xmlns="urn:hl7-org:v3"', '').replace(' xmlns:sdtc="urn:hl7-org:sdtc"', '');
		const kept = cut(soap(document, ' xmlns:sdtc="urn:hl7-org:sdtc"'));
		assert.ok(kept.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<ClinicalDocument xmlns:s='));
		assert.ok(kept.includes(' xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc"'));
		assert.ok(kept.endsWith(document.slice(document.indexOf('<typeId'))));
		assert.equal(cut(soap(bare)).match(/xmlns="/g)?.length, 1);
	});

	test('is told from comments, characters and attributes that look like it, in linear time', () => {
		const comment = '<!-- <ClinicalDocument a="></ClinicalDocument> <s:Body "'.repeat(20_000).replaceAll('--', '—').replace('<!—', '<!--');
		const document = bare.replace('<title>', '<!-- </ClinicalDocument> --><title><![CDATA[</ClinicalDocument>]]>');
		const text = soap(document, ' a="/>" b=\'">\'').replace('<s:Body>', `<s:Header><Body><a/></Body></s:Header>${comment}--><s:Body>`);
		assert.equal(cut(text).replace(/ xmlns:s="[^"]*"/, ''), `<?xml version="1.0" encoding="UTF-8"?>\n${document}`);
	});
});

for (const people_and_places of ['display', 'resources'] as const) {
	const title = `documents of the shared corpus become valid resources, and change nothing when they come again (${people_and_places})`;
	test(title, { skip: without('corpus') }, () => corpusAgain({ people_and_places }));
}

function corpusAgain(settings: Settings): void {
	let placed = 0;
	for (const { path, bytes } of corpusFiles('cda')) {
		const site = new MemorySite();
		try {
			site.apply(read(bytes, readEntries, settings));
		} catch (error) {
			assert.ok(error instanceof Failure, path);
			continue;
		}
		placed++;
		for (const resource of site.all()) assert.deepEqual(validateResource(resource), [], path);
		assert.deepEqual(site.apply(read(bytes, readEntries, settings)).changed, [], path);
	}
	assert.equal(placed, 67);
}
