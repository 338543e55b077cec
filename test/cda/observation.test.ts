import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import {
	clinicalDocument,
	completed,
	entry,
	entryTemplate,
	faultsOf,
	readDocument,
	resourcesOf,
	section,
} from '#test/support/cda-sections.ts';
import { fc } from '#test/support/fuzzing.ts';

const loinc = 'codeSystem="2.16.840.1.113883.6.1"';
const ucum = 'http://unitsofmeasure.org';
const glucose = `<code code="2345-7" ${loinc} displayName="Glucose"/>`;

const observation = (content: string, attributes = '') =>
	`<observation classCode="OBS" moodCode="EVN" ${attributes}>${entryTemplate(2)}${content}</observation>`;
const organizer = (content: string, template = 1) =>
	`<organizer classCode="BATTERY" moodCode="EVN">${entryTemplate(template)}${content}</organizer>`;
const component = (content: string) => `<component>${content}</component>`;

const results = (statement: string, text = '') => resourcesOf(section('30954-2', entry(statement), text));
function result(content: string, text = ''): JsonObject {
	return results(observation(glucose + content), text)[0] ?? assert.fail('there is no result');
}
const quantity = (value: number, unit: string) => ({ value, unit, system: ucum, code: unit });

describe('a value', () => {
	const narrative = '<list><item ID="v1">slightly <content>cloudy</content></item></list>';
	for (const [value, element, expected] of [
		['xsi:type="PQ" value="5.0" unit="mg/dL"', 'valueQuantity', quantity(5, 'mg/dL')],
		['xsi:type="hl7:PQ" value="+.5"', 'valueQuantity', { value: 0.5 }],
		['xsi:type="PQ" value="2.5E3" unit="10 3/ul"', 'valueQuantity', { value: 2500, unit: '10 3/ul' }],
		['value="7" unit="mm"', 'valueQuantity', quantity(7, 'mm')],
		['xsi:type="REAL" value="1.25"', 'valueQuantity', { value: 1.25 }],
		['xsi:type="INT" value="-3"', 'valueInteger', -3],
		['xsi:type="INT" value="3000000000"', 'valueQuantity', { value: 3_000_000_000 }],
		['xsi:type="ST">positive', 'valueString', 'positive'],
		['xsi:type="ED"><reference value="#v1"/>', 'valueString', 'slightly cloudy'],
		['xsi:type="BL" value="true"', 'valueBoolean', true],
		['xsi:type="MO" value="12.50" currency="EUR"', 'valueString', '12.50 EUR'],
		['xsi:type="TS" value="20200102"', 'valueDateTime', '2020-01-02'],
		['xsi:type="IVL_TS"><low value="2020"/><high value="2021"/>', 'valuePeriod', { start: '2020', end: '2021' }],
		['xsi:type="IVL_TS"><low value="2020"/><high value="2020"/>', 'valueDateTime', '2020'],
		[
			'xsi:type="IVL_PQ"><low value="1" unit="g"/><high value="2" unit="g"/>',
			'valueRange',
			{ low: quantity(1, 'g'), high: quantity(2, 'g') },
		],
		['xsi:type="IVL_PQ"><low value="1" unit="g"/>', 'valueQuantity', { ...quantity(1, 'g'), comparator: '>=' }],
		['xsi:type="IVL_PQ"><low value="1" unit="g" inclusive="false"/>', 'valueQuantity', { ...quantity(1, 'g'), comparator: '>' }],
		['xsi:type="IVL_PQ"><high value="2" unit="g"/>', 'valueQuantity', { ...quantity(2, 'g'), comparator: '<=' }],
		['xsi:type="IVL_INT"><high value="2" inclusive="false"/>', 'valueQuantity', { value: 2, comparator: '<' }],
		[
			'xsi:type="RTO_PQ_PQ"><numerator value="260" unit="l"/><denominator value="1" unit="min"/>',
			'valueRatio',
			{ numerator: quantity(260, 'l'), denominator: quantity(1, 'min') },
		],
		[
			'xsi:type="CD" code="10828004" codeSystem="2.16.840.1.113883.6.96" displayName="Positive"',
			'valueCodeableConcept',
			{ coding: [{ system: 'http://snomed.info/sct', code: '10828004', display: 'Positive' }], text: 'Positive' },
		],
		['xsi:type="CO" nullFlavor="OTH"><originalText>trace</originalText>', 'valueCodeableConcept', { text: 'trace' }],
	] as const) {
		test(`${value} is ${element}`, () => {
			const content = value.includes('>') ? `<value ${value}</value>` : `<value ${value}/>`;
			const resource = result(content, narrative);
			assert.deepEqual(resource[element], expected);
			assert.equal(resource['dataAbsentReason'], undefined);
		});
	}

	for (const [value, reason] of [
		['xsi:type="PQ" nullFlavor="NI"', 'unknown'],
		['xsi:type="PQ" nullFlavor="ASKU"', 'asked-unknown'],
		['xsi:type="CD" nullFlavor="MSK"', 'masked'],
		['xsi:type="ST" nullFlavor="OTH"', 'unsupported'],
		['xsi:type="PQ" value="many"', 'unknown'],
		['xsi:type="IVL_PQ"><low value="3"/><high value="2"/>', 'unknown'],
		['xsi:type="GLIST_PQ"><increment value="1"/>', 'unknown'],
	] as const) {
		test(`${value} is absent: ${reason}`, () => {
			const resource = result(value.includes('>') ? `<value ${value}</value>` : `<value ${value}/>`);
			assert.equal((resource['dataAbsentReason'] as { coding: { code: string }[] }).coding[0]?.code, reason);
			assert.ok(Object.keys(resource).every((element) => !element.startsWith('value')));
		});
	}

	test('a second value is noted', () => {
		const { entries, flags } = readDocument(
			clinicalDocument(
				section('30954-2', entry(observation(`${glucose}<value xsi:type="PQ" value="1"/><value xsi:type="PQ" value="2"/>`))),
			),
		);
		assert.equal(JSON.stringify(entries[0]?.resource['valueQuantity']), '{"value":1}');
		assert.match(flags.join(), /value\[2\] was left out/);
	});

	test('PQ keeps every digit', () => {
		fc.assert(
			fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.integer({ min: 0, max: 12 }), (number, places) => {
				const sign = number < 0n ? '-' : '';
				const digits = String(number < 0n ? -number : number).padStart(places + 1, '0');
				const text = `${sign}${digits.slice(0, digits.length - places)}${places === 0 ? '' : `.${digits.slice(-places)}`}`;
				const document = clinicalDocument(
					section('30954-2', entry(observation(`${glucose}<value xsi:type="PQ" value="${text}" unit="1"/>`))),
				);
				const { entries } = readDocument(document);
				assert.equal(JSON.stringify(entries[0]?.resource['valueQuantity']), `{"value":${text},"unit":"1","system":"${ucum}","code":"1"}`);
			}),
		);
	});
});

describe('a result observation', () => {
	test('becomes an Observation with all that it says', () => {
		const resource = result(
			'<id root="1.2.3" extension="R1"/><statusCode code="completed"/><effectiveTime value="20200102083000+0100"/>' +
				'<value xsi:type="PQ" value="95" unit="mg/dL"/><interpretationCode code="N" codeSystem="2.16.840.1.113883.5.83"/>' +
				'<methodCode code="M1" codeSystem="1.2.9"/><targetSiteCode code="T1" codeSystem="1.2.9"/>' +
				'<specimen><specimenRole><id root="1.2.4" extension="S1"/><specimenPlayingEntity><code code="BLD" codeSystem="2.16.840.1.113883.5.129" displayName="Blood"/></specimenPlayingEntity></specimenRole></specimen>' +
				'<performer><assignedEntity><id nullFlavor="UNK"/><representedOrganization><name>North Lab</name></representedOrganization></assignedEntity></performer>' +
				'<referenceRange><observationRange><text>70 to 105</text><value xsi:type="IVL_PQ"><low value="70" unit="mg/dL"/><high value="105" unit="mg/dL"/></value></observationRange></referenceRange>' +
				'<referenceRange><observationRange><text>high</text><interpretationCode code="H"/></observationRange></referenceRange>' +
				'<referenceRange><observationRange><value xsi:type="ST">fasting</value></observationRange></referenceRange>' +
				`<entryRelationship typeCode="SUBJ" inversionInd="true"><act classCode="ACT" moodCode="EVN">${entryTemplate(64)}<text>repeat</text></act></entryRelationship>`,
		);
		assert.deepEqual(resource, {
			identifier: [{ value: 'R1', system: 'urn:oid:1.2.3' }],
			status: 'final',
			category: [
				{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory', display: 'Laboratory' }] },
			],
			code: { coding: [{ system: 'http://loinc.org', code: '2345-7', display: 'Glucose' }], text: 'Glucose' },
			effectiveDateTime: '2020-01-02T08:30:00+01:00',
			performer: [{ display: 'North Lab' }],
			specimen: { type: 'Specimen', identifier: { value: 'S1', system: 'urn:oid:1.2.4' }, display: 'Blood' },
			valueQuantity: quantity(95, 'mg/dL'),
			interpretation: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'N' }] }],
			note: [{ text: 'repeat' }],
			bodySite: { coding: [{ system: 'urn:oid:1.2.9', code: 'T1' }] },
			method: { coding: [{ system: 'urn:oid:1.2.9', code: 'M1' }] },
			referenceRange: [{ low: quantity(70, 'mg/dL'), high: quantity(105, 'mg/dL'), text: '70 to 105' }, { text: 'fasting' }],
		});
	});

	for (const [code, status] of [
		['active', 'registered'],
		['aborted', 'cancelled'],
		['nullified', 'entered-in-error'],
		['odd', 'unknown'],
	] as const) {
		test(`its status ${code} is ${status}`, () => assert.equal(result(`<statusCode code="${code}"/>`)['status'], status));
	}

	test('denied, or of nothing, it is left out and noted', () => {
		for (const [statement, reason] of [
			[observation(glucose, 'negationInd="true"'), /is negated/],
			[observation('<code nullFlavor="UNK"/><value xsi:type="PQ" value="1"/>'), /what was observed/],
		] as const) {
			const { entries, flags } = readDocument(clinicalDocument(section('30954-2', entry(statement))));
			assert.deepEqual(entries, []);
			assert.match(flags.join(), reason);
		}
	});
});

describe('a panel', () => {
	const code = `<code code="24323-8" ${loinc} displayName="Panel"/>`;
	const member = (number: string, more = '') =>
		observation(`<id root="1.2" extension="${number}"/><code code="${number}" ${loinc}/>${more}`);

	test('has its members in their order, which have its status, time and performer where they say nothing', () => {
		const performer =
			'<performer><assignedEntity><id root="1.3"/><assignedPerson><name><family>Lee</family></name></assignedPerson></assignedEntity></performer>';
		const { entries } = readDocument(
			clinicalDocument(
				section(
					'30954-2',
					entry(
						organizer(
							`<id root="1.2" extension="panel"/>${code}<statusCode code="completed"/><effectiveTime value="20200102"/>${performer}` +
								`<component><sequenceNumber value="2"/>${member('2')}</component>` +
								`<component><sequenceNumber value="1"/>${member('1', '<statusCode code="active"/><effectiveTime value="20200103"/>')}</component>`,
						),
					),
				),
			),
		);
		assert.deepEqual(faultsOf(entries), []);
		const [first, second, panel] = entries;
		const lee = [{ type: 'Practitioner', identifier: { value: 'urn:oid:1.3', system: 'urn:ietf:rfc:3986' }, display: 'Lee' }];
		assert.deepEqual(
			[first, second, panel].map((one) => [one?.resource['status'], one?.resource['effectiveDateTime'], one?.resource['performer']]),
			[
				['registered', '2020-01-03', lee],
				['final', '2020-01-02', lee],
				['final', '2020-01-02', lee],
			],
		);
		assert.deepEqual(
			panel?.refers?.['hasMember'],
			[first, second].map((one) => ({ resourceType: 'Observation', item: one?.item })),
		);
	});

	test('without a time it has that of its members, without a code the title of its section', () => {
		const panelOf = (members: string) => results(organizer(members)).at(-1);
		const timed = (number: string, value: string) => component(member(number, `<effectiveTime value="${value}"/>`));
		assert.deepEqual(panelOf(timed('1', '20200102') + timed('2', '20200102'))?.['effectiveDateTime'], '2020-01-02');
		assert.deepEqual(panelOf(timed('1', '20200103') + timed('2', '20200102'))?.['effectivePeriod'], {
			start: '2020-01-02',
			end: '2020-01-03',
		});
		assert.deepEqual(panelOf('')?.['code'], { text: 'Title 30954-2' });
	});

	test('of vital signs is one of vital signs, and what is no observation in it is noted', () => {
		const document = clinicalDocument(
			section(
				'8716-3',
				entry(organizer(code + component(member('8480-6')) + component('<procedure classCode="PROC" moodCode="EVN"/>'), 26)),
			),
		);
		const { entries, flags } = readDocument(document);
		for (const { resource } of entries) {
			assert.equal((resource['category'] as { coding: { code: string }[] }[])[0]?.coding[0]?.code, 'vital-signs');
		}
		assert.equal(entries.length, 2);
		assert.match(flags.join(), /component\[2\]\/procedure was left out/);
	});

	test('stands in an act in a laboratory report (XD-LAB), and within another one', () => {
		const inner = organizer(`<code code="inner" ${loinc}/>${component(member('1'))}`);
		const act =
			`<act classCode="ACT" moodCode="EVN"><code code="18719-5" ${loinc}/><statusCode code="completed"/><entryRelationship typeCode="COMP">` +
			`${organizer(code + component(inner))}</entryRelationship></act>`;
		const { entries } = readDocument(clinicalDocument(section('18719-5', entry(act))));
		assert.equal(entries.length, 3);
		assert.deepEqual(
			entries.map(({ refers }) => refers?.['hasMember']?.[0]?.item),
			[undefined, entries[0]?.item, entries[1]?.item],
		);
	});

	test('an observation has what is in it by COMP as members, and by SPRT as what it is derived from', () => {
		const within = (typeCode: string, number: string) => `<entryRelationship typeCode="${typeCode}">${member(number)}</entryRelationship>`;
		const { entries, flags } = readDocument(
			clinicalDocument(section('30954-2', entry(observation(glucose + within('COMP', '1') + within('SPRT', '2') + within('CAUS', '3'))))),
		);
		assert.deepEqual(faultsOf(entries), []);
		const outer = completed(entries[2] ?? assert.fail());
		assert.deepEqual(
			[outer['hasMember'], outer['derivedFrom']].map((list) => (list as JsonObject[]).length),
			[1, 1],
		);
		assert.match(flags.join(), /entryRelationship\[3\]\/observation was left out/);
	});
});

describe('what organizers and acts say beside their observations', () => {
	const person = (name: string) => `<assignedPerson><name><family>${name}</family></name></assignedPerson>`;
	const author = (name: string) => `<author><time value="2025"/><assignedAuthor>${person(name)}</assignedAuthor></author>`;
	const comment = (text: string) => `<act classCode="ACT" moodCode="EVN">${entryTemplate(64)}<text>${text}</text>${author('Lab')}</act>`;
	const note = (text: string) => ({ authorString: 'Lab', time: '2025', text });
	const act = (content: string, attributes = '') =>
		`<act classCode="ACT" moodCode="EVN" ${attributes}><code code="18719-5" ${loinc}/>${content}</act>`;
	const inner = (content: string, typeCode = 'COMP') => `<entryRelationship typeCode="${typeCode}">${content}</entryRelationship>`;
	const names = ({ performer }: JsonObject) => (performer as { display: string }[] | undefined)?.map(({ display }) => display).join();

	test('comments are notes of the panel and of all within it, before which stand their own', () => {
		const member = observation(glucose + inner(comment('own'), 'SUBJ'));
		const [first, panel] = results(organizer(component(member) + component(comment('haemolytic'))));
		assert.deepEqual(first?.['note'], [note('own'), note('haemolytic')]);
		assert.deepEqual(panel?.['note'], [note('haemolytic')]);
		const [single] = results(act(inner(observation(glucose)) + inner(comment('of the specialty'), 'SUBJ')));
		assert.deepEqual(single?.['note'], [note('of the specialty')]);
	});

	test('authors are performers where no performer is stated', () => {
		const member = (content: string) => component(observation(glucose + content));
		const performer = `<performer><assignedEntity>${person('Doer')}</assignedEntity></performer>`;
		const found = results(act(author('Outer') + inner(organizer(member('') + member(author('A') + author('B')) + member(performer)))));
		assert.deepEqual(found.map(names), ['Outer', 'A,B', 'Doer', 'Outer']);
		const [done] = results(organizer(performer + member(author('A'))));
		assert.deepEqual(done && names(done), 'Doer');
	});

	test('long comments are not repeated, which is noted; the panel has them', () => {
		const statement = organizer(author('A') + component(observation(glucose)) + component(comment('x'.repeat(5000))));
		const { entries, flags } = readDocument(clinicalDocument(section('30954-2', entry(statement))));
		const [first, panel] = entries.map(({ resource }) => resource);
		assert.deepEqual([first?.['note'], first && names(first)], [undefined, 'A']);
		assert.deepEqual(panel?.['note'], [note('x'.repeat(5000))]);
		assert.match(flags.join(), /organizer was left out: its comments are too long/);
	});

	test('created in error, so is what they contain; negated, it is left out and noted', () => {
		const nullified = '<statusCode code="nullified"/>';
		const member = observation(`${glucose}<statusCode code="completed"/>`);
		const statuses = results(organizer(nullified + component(member))).map((resource) => resource['status']);
		assert.deepEqual(statuses, ['entered-in-error', 'entered-in-error']);
		const derived = results(observation(glucose + nullified + inner(member, 'SPRT'))).map((resource) => resource['status']);
		assert.deepEqual(derived, ['final', 'entered-in-error']);
		for (const [statement, reason] of [
			[act(inner(observation(glucose)), 'negationInd="true"'), /act was left out: it is negated/],
			[comment('alone'), /act was left out: it is a comment on no observation/],
		] as const) {
			const { entries, flags } = readDocument(clinicalDocument(section('30954-2', entry(statement))));
			assert.deepEqual(entries, []);
			assert.match(flags.join(), reason);
		}
	});
});

describe('other sections of observations', () => {
	for (const [code, category] of [
		['29762-2', 'social-history'],
		['47420-5', 'survey'],
		['29545-1', 'exam'],
		['8716-3', 'vital-signs'],
	] as const) {
		test(`${code} gives observations of category ${category}`, () => {
			const smoking = `<observation classCode="OBS" moodCode="EVN">${entryTemplate(78)}<code code="72166-2" ${loinc}/><value xsi:type="CD" code="8517006" codeSystem="2.16.840.1.113883.6.96"/></observation>`;
			const [resource] = resourcesOf(section(code, entry(smoking)));
			assert.equal((resource?.['category'] as { coding: { code: string }[] }[] | undefined)?.[0]?.coding[0]?.code, category);
		});
	}
});
