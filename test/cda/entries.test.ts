import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { clinicalDocument, entry, entryTemplate, faultsOf, readDocument, section } from '#test/support/cda-sections.ts';
import { fc, fuzzing } from '#test/support/fuzzing.ts';
import { defaultLimits } from '../../src/limits.ts';

const snomed = 'codeSystem="2.16.840.1.113883.6.96"';
const problem = (id: string, code: string, more = '') =>
	entry(
		`<observation classCode="OBS" moodCode="EVN">${entryTemplate(4)}${id === '' ? '' : `<id root="1.2" extension="${id}"/>`}` +
			`<value xsi:type="CD" code="${code}" ${snomed}/>${more}</observation>`,
	);
const items = (sections: string) => readDocument(clinicalDocument(sections)).entries.map(({ item }) => item);
const problems = (...entries: string[]) => section('11450-4', entries.join(''));

describe('the item of an entry', () => {
	test('is the same however often the document is read, and in whatever order its sections stand', () => {
		const sections = [
			problems(problem('a', '1'), problem('b', '2'), problem('b', '3')),
			section('11535-2', problem('b', '3')),
			section(
				'48765-2',
				entry(
					`<observation classCode="OBS" moodCode="EVN">${entryTemplate(7)}<id root="1.2" extension="a"/><value xsi:type="CD" code="4"/></observation>`,
				),
			),
		];
		const found = items(sections.join(''));
		assert.equal(new Set(found).size, found.length);
		assert.deepEqual(items(sections.join('')), found);
		assert.deepEqual(items(sections.toReversed().join('')).toSorted(), found.toSorted());
	});

	test('is that of the id, whatever else changes', () => {
		const [before] = items(problems(problem('a', '1')));
		const [after] = items(section('11348-0', problem('a', '2', '<effectiveTime><low value="2020"/></effectiveTime>')));
		assert.equal(before, after);
		assert.notEqual(before, items(problems(problem('b', '1')))[0]);
	});

	test('has the keys, too, that it has where its id stands for more things or fewer', () => {
		const read = (sections: string) => readDocument(clinicalDocument(sections)).entries;
		const [alone] = read(problems(problem('a', '1')));
		const [first, second] = read(problems(problem('a', '1')) + section('11348-0', problem('a', '1', '<effectiveTime value="2020"/>')));
		assert.deepEqual(first?.otherItems?.general.at(-1), alone?.item);
		assert.deepEqual(alone?.otherItems, { exact: [first?.item, first?.otherItems?.general[0]], general: [] });
		assert.ok(!alone?.otherItems?.exact.includes(second?.item ?? ''));
	});

	test('is told apart where one id stands for several things, and the same thing said twice is one', () => {
		const [first, second, ...others] = items(problems(problem('a', '1'), problem('a', '2'), problem('a', '1')));
		assert.notEqual(first, second);
		assert.deepEqual(others, []);
		// The code is enough: what else is said of it may change.
		const changed = items(problems(problem('a', '1', '<effectiveTime><low value="2020"/></effectiveTime>'), problem('a', '2')));
		assert.deepEqual(changed, [first, second]);
	});

	test('is that of place and content without an id, by number where they are the same', () => {
		const found = items(problems(problem('', '1'), problem('', '1'), problem('', '2')) + section('11348-0', problem('', '1')));
		assert.equal(new Set(found).size, 4);
		assert.deepEqual(items(problems(problem('', '2'), problem('', '1'))).toSorted(), [found[0], found[2]].toSorted());
	});

	test('an id that is null or empty is none', () => {
		const of = (id: string) =>
			items(problems(entry(`<observation classCode="OBS" moodCode="EVN">${id}<value xsi:type="CD" code="1" ${snomed}/></observation>`)))[0];
		assert.equal(of('<id nullFlavor="UNK" root="1"/>'), of(''));
		assert.equal(of('<id/>'), of(''));
		assert.notEqual(of('<id nullFlavor="UNK"/><id root="1"/>'), of(''));
	});

	test('panels whose members differ are told apart, and refer to what was kept', () => {
		const member = (value: number) =>
			`<component><observation classCode="OBS" moodCode="EVN"><id root="1.2" extension="m"/><code code="1" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="PQ" value="${value}"/></observation></component>`;
		const panel = (value: number) =>
			entry(
				`<organizer classCode="BATTERY" moodCode="EVN"><id root="1.2" extension="p"/><code code="2" codeSystem="2.16.840.1.113883.6.1"/>${member(value)}</organizer>`,
			);
		const { entries } = readDocument(clinicalDocument(section('30954-2', panel(1) + panel(2) + panel(1))));
		assert.equal(entries.length, 4);
		const known = new Set(entries.map(({ item }) => item));
		const referred = entries.flatMap(({ refers }) => refers?.['hasMember'] ?? []);
		assert.equal(new Set(referred.map(({ item }) => item)).size, 2);
		assert.ok(referred.every(({ item }) => known.has(item)));
	});
});

describe('sections', () => {
	const flagsOf = (sections: string) =>
		readDocument(clinicalDocument(sections)).flags.map((text) => text.replace('/ClinicalDocument/component/structuredBody/', ''));

	test('are known by template where the code is another, and inner ones by the outer one', () => {
		const templated = section('99999-9', `${problem('a', '1')}`).replace(
			'<title>',
			'<templateId root="2.16.840.1.113883.10.20.22.2.5.1" extension="2015-08-01"/><title>',
		);
		assert.equal(items(templated).length, 1);
		const untemplated = '<entry><observation classCode="OBS" moodCode="EVN"><value xsi:type="CD" code="1"/></observation></entry>';
		assert.equal(items(section('11450-4', '', '', section('99999-9', untemplated))).length, 1);
		assert.equal(items(section('99999-9', untemplated)).length, 0);
	});

	test('with a narrative and no entries are noted, unless it says that there are none', () => {
		assert.deepEqual(flagsOf(section('11450-4', '', 'Asthma since 1990')), [
			'component/section was left out: it has a narrative and no entries',
		]);
		for (const none of ['No known problems', '<paragraph>None.</paragraph>', 'Denies any', '', 'Not on file']) {
			assert.deepEqual(flagsOf(section('11450-4', '', none)), [], none);
		}
		assert.deepEqual(flagsOf(section('29299-5', '', 'Cough')), []);
	});

	test('that have no resource here are noted once', () => {
		const medication = entry('<substanceAdministration classCode="SBADM" moodCode="EVN"/>');
		assert.deepEqual(flagsOf(section('10160-0', medication + medication) + section('18776-5', '', 'Rest') + section('11369-6', '')), [
			'component[1]/section was left out: what it states has no resource here',
			'component[2]/section was left out: what it states has no resource here',
		]);
	});

	test('about somebody else are left out as a whole', () => {
		const sections = section('11450-4', `<subject><relatedSubject/></subject>${problem('a', '1')}`);
		assert.deepEqual(items(sections), []);
		assert.match(flagsOf(sections).join(), /somebody else/);
	});

	test('within one about somebody else, as that is: findings of a fetus are none of the mother', () => {
		const fetus =
			'<subject><relatedSubject classCode="PRS"><code code="121026" codeSystem="1.2.840.10008.2.16.4"/></relatedSubject></subject>';
		const inner = section('11450-4', problem('a', '1')) + section('19005-8', '', 'Breech presentation');
		const outer = section('11488-4', `${fetus}${inner}`);
		assert.deepEqual(items(outer), []);
		assert.equal(flagsOf(outer).filter((flag) => /somebody else/.test(flag)).length, 2);
		assert.equal(items(section('11488-4', inner)).length, 2);
	});

	test('more notes than are kept: the last one says so', () => {
		const { flags } = readDocument(clinicalDocument(problems(...Array.from({ length: 300 }, () => entry('<act moodCode="INT"/>')))));
		assert.equal(flags.length, 200);
		assert.match(flags.at(-1) ?? '', /more was noted than the 200 notes that are kept$/);
	});

	test('a document without a body of sections states nothing', () => {
		const unstructured = clinicalDocument('').replace(
			/<structuredBody>.*<\/structuredBody>/,
			'<nonXMLBody><text>plain</text></nonXMLBody>',
		);
		assert.deepEqual(readDocument(unstructured), { entries: [], flags: [] });
	});
});

describe('narrative', () => {
	const textOf = (reference: string, text: string) => {
		const statement = `<observation classCode="OBS" moodCode="EVN"><text><reference value="${reference}"/></text></observation>`;
		const { entries } = readDocument(clinicalDocument(section('11450-4', entry(statement), text)));
		return (entries[0]?.resource['code'] as { text: string } | undefined)?.text;
	};
	for (const [name, text, expected] of [
		['a row, its cells apart', '<table><tr ID="x"><td>Asthma</td>\n<td>active</td></tr></table>', 'Asthma active'],
		['a list, its items apart', '<list ID="x"><item>a</item><item>b<br/>c</item></list>', 'a b c'],
		['scripts without spaces', '<content ID="x">CO<sub>2</sub> high</content>', 'CO2 high'],
		['neighbours apart', '<content ID="x"><content>a</content>\n  <content>b</content></content>', 'a b'],
		['without what was deleted', '<content ID="x">new<content revised="delete">old</content></content>', 'new'],
	] as const) {
		test(`is read as one line: ${name}`, () => {
			assert.equal(textOf('#x', text), expected);
			assert.equal(textOf('x', text), expected);
		});
	}

	test('an unknown reference gives nothing', () => assert.equal(textOf('#y', '<content ID="x">a</content>'), undefined));

	test('that many entries repeat is bounded', () => {
		const long = 'word '.repeat(100_000);
		const statement = entry(`<observation classCode="OBS" moodCode="EVN"><text><reference value="#x"/></text></observation>`);
		const { entries, flags } = readDocument(
			clinicalDocument(section('11450-4', statement.repeat(100), `<paragraph ID="x">${long}</paragraph>`)),
		);
		assert.ok(entries.length < 20, `${entries.length} entries`);
		assert.match(flags[0] ?? '', /too much text/);
	});
});

describe('whatever a document holds', () => {
	const names = [
		...['act', 'observation', 'organizer', 'procedure', 'encounter', 'supply', 'entryRelationship', 'component', 'participant', 'value'],
		...['participantRole', 'playingEntity', 'code', 'statusCode', 'effectiveTime', 'low', 'high', 'text', 'reference', 'originalText'],
		...[
			'templateId',
			'id',
			'author',
			'time',
			'assignedAuthor',
			'referenceRange',
			'observationRange',
			'translation',
			'subject',
			'qualifier',
		],
	];
	const words = fc.constantFrom(
		'',
		'1',
		'x',
		'-1.5',
		'20200101',
		'2020',
		'#a',
		'SUBJ',
		'MFST',
		'COMP',
		'completed',
		'1.2.3',
		'EVN',
		'true',
		'constructor',
	);
	const roots = fc.constantFrom(
		...['1', '2', '3', '4', '7', '9', '14', '26', '27', '30', '80'].map((id) => `2.16.840.1.113883.10.20.22.4.${id}`),
	);
	const attribute = fc.oneof(
		fc.tuple(
			fc.constantFrom('code', 'value', 'unit', 'extension', 'displayName', 'nullFlavor', 'typeCode', 'negationInd', 'codeSystem'),
			words,
		),
		fc.tuple(fc.constant('root'), roots),
		fc.tuple(
			fc.constant('xsi:type'),
			fc.constantFrom('PQ', 'CD', 'IVL_PQ', 'ST', 'ED', 'TS', 'IVL_TS', 'RTO', 'INT', 'BL', 'odd', 'constructor'),
		),
	);
	const statementNames = ['act', 'observation', 'organizer', 'procedure', 'encounter', 'supply'];
	const written = (name: fc.Arbitrary<string>, children: fc.Arbitrary<string[]>): fc.Arbitrary<string> =>
		fc.tuple(name, fc.array(attribute, { maxLength: 3 }), children, fc.boolean()).map(([tag, attributes, inner, hasText]) => {
			const own = [...new Map(attributes)].map(([key, value]) => ` ${key}="${value}"`).join('');
			return `<${tag}${own}>${hasText ? 'text' : ''}${inner.join('')}</${tag}>`;
		});
	const element = fc.memo((depth: number): fc.Arbitrary<string> => {
		const children = depth <= 1 ? fc.constant<string[]>([]) : fc.array(fc.oneof(element(depth - 1), holder(depth - 1)), { maxLength: 4 });
		return written(fc.constantFrom(...names), children);
	});
	const statement = fc.memo((depth: number): fc.Arbitrary<string> => {
		const children = depth <= 1 ? fc.constant<string[]>([]) : fc.array(fc.oneof(element(2), holder(depth - 1)), { maxLength: 6 });
		return written(fc.constantFrom(...statementNames), children);
	});
	const holder = fc.memo(
		(depth: number): fc.Arbitrary<string> =>
			written(
				fc.constantFrom('entryRelationship', 'component'),
				statement(depth).map((inner) => [inner]),
			),
	);
	const codes = fc.constantFrom('11450-4', '48765-2', '30954-2', '8716-3', '47519-4', '46240-8', '29762-2', '121070', '19005-8', '0');

	const check = (document: string): void => {
		try {
			const { entries } = readDocument(document);
			assert.deepEqual(faultsOf(entries, false), []);
			assert.equal(new Set(entries.map(({ resourceType, item }) => `${resourceType} ${item}`)).size, entries.length);
		} catch (error) {
			if (!(error instanceof Failure)) throw error;
		}
	};

	test('it gives valid resources or a Failure', (context) => {
		fc.assert(
			fc.property(fc.array(fc.tuple(codes, fc.array(statement(4), { maxLength: 4 })), { maxLength: 4 }), (sections) => {
				const told = '<content ID="a">told</content>';
				check(clinicalDocument(sections.map(([code, statements]) => section(code, statements.map(entry).join(''), told)).join('')));
			}),
			fuzzing(context, 200),
		);
	});

	test('so it does when any attributes of a real one say something else', (context) => {
		const document = clinicalDocument(everything);
		const values = document.split(/(?<==)("[^"]*")/);
		const changes = fc.array(fc.tuple(fc.nat(values.length - 1), fc.oneof(words, roots)), { maxLength: 12 });
		assert.ok(readDocument(document).entries.length >= 8);
		fc.assert(
			fc.property(changes, (list) => {
				const changed = [...values];
				// Namespaces are the first few.
				for (const [at, value] of list) if (at > 8 && changed[at]?.startsWith('"')) changed[at] = `"${value}"`;
				check(changed.join(''));
			}),
			fuzzing(context, 400),
		);
	});
});

describe('the work of reading', () => {
	test('takes no stack for what a document has many of', () => {
		// More than a call takes arguments.
		const many = 130_000;
		const one = '<entryRelationship typeCode="COMP"><observation><code code="1"/></observation></entryRelationship>';
		const { entries } = readDocument(clinicalDocument(section('18719-5', entry(`<act>${one.repeat(many)}</act>`))), {
			...defaultLimits,
			xmlElementsMax: 1_000_000,
		});
		assert.equal(new Set(entries.map(({ item }) => item)).size, many);
		const { flags } = readDocument(clinicalDocument(section('30954-2', entry('<observation moodCode="INT"/>').repeat(20_000))));
		assert.equal(flags.length, 200);
	});

	test('what stands in an outer statement is repeated in inner ones only where it is short', () => {
		const many = 2000;
		const named = (name: string) =>
			`<assignedEntity><assignedPerson><name><family>${name}</family></name></assignedPerson></assignedEntity>`;
		const observation = `<observation classCode="OBS" moodCode="EVN"><value xsi:type="CD" code="1" ${snomed}/><code code="2"/></observation>`;
		const comment = `<entryRelationship typeCode="REFR"><act classCode="ACT" moodCode="EVN">${entryTemplate(64)}<text>said once</text></act></entryRelationship>`;
		const concerns = (comments: number) =>
			entry(
				`<act classCode="ACT" moodCode="EVN">${`<entryRelationship typeCode="SUBJ">${observation}</entryRelationship>`.repeat(many)}${comment.repeat(comments)}</act>`,
			);
		const performers = (count: number) =>
			entry(
				`<organizer classCode="BATTERY" moodCode="EVN"><code code="3"/>${`<performer>${named('P')}</performer>`.repeat(count)}` +
					`${`<component>${observation}</component>`.repeat(many)}</organizer>`,
			);
		const sizeOf = (sections: string) => JSON.stringify(readDocument(clinicalDocument(sections)).entries).length;
		const small = sizeOf(problems(concerns(1)) + section('30954-2', performers(1)));
		const large = sizeOf(problems(concerns(many)) + section('30954-2', performers(many)));
		assert.ok(large < small + 1_000_000, `${small} → ${large} characters`);
		const { entries } = readDocument(clinicalDocument(problems(concerns(1))));
		assert.ok(entries.every(({ resource }) => Array.isArray(resource['note'])));
		const { flags } = readDocument(clinicalDocument(section('30954-2', performers(many))));
		assert.match(flags[0] ?? '', /too long to be repeated/);
	});
});

const quantityValue = '<value xsi:type="PQ" value="5.0" unit="mg/dL"/>';
const author =
	'<author><time value="20140104"/><assignedAuthor><id root="1.3" extension="9"/><assignedPerson><name><family>A</family></name></assignedPerson></assignedAuthor></author>';
const period = '<effectiveTime><low value="20120101"/><high value="20130101"/></effectiveTime>';
const inner = (typeCode: string, template: number, content: string) =>
	`<entryRelationship typeCode="${typeCode}" inversionInd="true"><observation classCode="OBS" moodCode="EVN">${entryTemplate(template)}${content}</observation></entryRelationship>`;
const snomedValue = (code: string) =>
	`<value xsi:type="CD" code="${code}" ${snomed} displayName="x"><originalText><reference value="#a"/></originalText><translation code="J45" codeSystem="2.16.840.1.113883.6.90"/></value>`;
const concern = (template: number, observation: number, content: string) =>
	entry(
		`<act classCode="ACT" moodCode="EVN">${entryTemplate(template)}<statusCode code="active"/>${author}<entryRelationship typeCode="SUBJ">` +
			`<observation classCode="OBS" moodCode="EVN" negationInd="false">${entryTemplate(observation)}<id root="1.2" extension="${template}"/>` +
			`<statusCode code="completed"/>${period}${content}</observation></entryRelationship></act>`,
	);
const member = (number: number) =>
	`<component><sequenceNumber value="${number}"/><observation classCode="OBS" moodCode="EVN">${entryTemplate(2)}<id root="1.2" extension="m${number}"/><code code="2345-7" codeSystem="2.16.840.1.113883.6.1"/>` +
	`<statusCode code="completed"/><effectiveTime value="20200102"/>${quantityValue}<value xsi:type="IVL_PQ"><low value="1" inclusive="true"/><high value="2"/></value>` +
	'<referenceRange><observationRange><text>t</text><value xsi:type="IVL_PQ"><low value="1"/><high value="3"/></value></observationRange></referenceRange></observation></component>';
/** Sections with one of everything that is read. */
const everything = [
	section(
		'11450-4',
		concern(
			3,
			4,
			snomedValue('195967001') + inner('REFR', 6, snomedValue('55561003')) + inner('SUBJ', 31, '<value xsi:type="PQ" value="7" unit="a"/>'),
		),
		'<content ID="a">told</content>',
	),
	section(
		'48765-2',
		concern(
			30,
			7,
			snomedValue('416098002') +
				'<participant typeCode="CSM"><participantRole><playingEntity><code code="1" codeSystem="1.5"/></playingEntity></participantRole></participant>' +
				inner('MFST', 9, snomedValue('247472004') + period + inner('SUBJ', 8, snomedValue('6736007'))),
		),
	),
	section(
		'30954-2',
		entry(
			`<organizer classCode="BATTERY" moodCode="EVN">${entryTemplate(1)}<id root="1.2" extension="p"/><code code="2" codeSystem="1.5"/><statusCode code="completed"/>${member(1)}${member(2)}</organizer>`,
		),
	),
	section(
		'47519-4',
		entry(
			`<procedure classCode="PROC" moodCode="EVN">${entryTemplate(14)}<id root="1.2" extension="q"/><code code="3" codeSystem="1.5"/><statusCode code="completed"/>${period}${author}</procedure>`,
		),
	),
	section(
		'19005-8',
		entry(`<observation classCode="OBS" moodCode="EVN"><code code="4" codeSystem="1.5"/><value xsi:type="TS" value="2020"/></observation>`),
		'clear',
	),
	section(
		'8716-3',
		entry(
			`<observation classCode="OBS" moodCode="EVN"><code code="5" codeSystem="1.5"/><value xsi:type="RTO"><numerator value="1"/><denominator value="2"/></value></observation>`,
		),
	),
].join('');
