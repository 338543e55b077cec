import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { bundled } from '#fhir/profiles/bundled-source.ts';
import { checkProfile } from '#fhir/profiles/check.ts';
import { DefinitionSet, Library } from '#fhir/profiles/library.ts';
import { readProfile } from '#fhir/profiles/read-profile.ts';

const base = 'http://example.org/fhir/StructureDefinition';

/** Makes a profile of a differential. */
function profileOf(name: string, type: string, element: object[], baseDefinition = `http://hl7.org/fhir/StructureDefinition/${type}`) {
	return readProfile({
		resourceType: 'StructureDefinition',
		url: `${base}/${name}`,
		name,
		type,
		baseDefinition,
		derivation: 'constraint',
		fhirVersion: '4.0.1',
		differential: { element: JSON.parse(JSON.stringify(element)) },
	});
}

const valueSet = { kind: 'ValueSet', url: 'urn:vs', name: 'VS', include: [{ system: 'urn:s', concepts: [['a'], ['b']] }] } as const;
const unlisted = { kind: 'ValueSet', url: 'urn:unlisted', name: 'U', include: [{ system: 'urn:elsewhere' }] } as const;

type Profile = ReturnType<typeof profileOf>;

/** Returns `severity code path` of each issue. */
function found(resource: object, profile: Profile, ...others: Profile[]): string[] {
	const library = new Library(new DefinitionSet([profile, ...others, valueSet, unlisted]), bundled());
	const compiled = library.profile(profile.url);
	assert.ok(compiled);
	return checkProfile(resource as JsonObject, compiled, library).map(({ severity, code, expression = [''] }) =>
		`${severity} ${code} ${expression[0]}`.trim(),
	);
}

const patient = (more: object = {}) => ({ resourceType: 'Patient', ...more });
const observation = (more: object = {}) => ({ resourceType: 'Observation', status: 'final', code: { text: 'x' }, ...more });

interface Row {
	title: string;
	type: 'Patient' | 'Observation' | 'Bundle';
	elements: object[];
	/** Resources that conform. */
	good: object[];
	/** Resources that do not, with what is found. */
	bad: [object, string[]][];
}

const coding = (system: string, code: string) => ({ coding: [{ system, code }] });
const extension = (url: string, more: object) => ({ extension: [{ url, ...more }] });

const rows: Row[] = [
	{
		title: 'a smallest and a largest number of values',
		type: 'Patient',
		elements: [
			{ id: 'Patient.name', path: 'Patient.name', min: 1, max: '2' },
			{ id: 'Patient.name.family', path: 'Patient.name.family', min: 1 },
			{ id: 'Patient.photo', path: 'Patient.photo', max: '0' },
		],
		good: [patient({ name: [{ family: 'A' }] }), patient({ name: [{ _family: { extension: [{ url: 'urn:x', valueCode: 'y' }] } }] })],
		bad: [
			[patient(), ['error required Patient.name']],
			[patient({ name: [{ text: 'A' }] }), ['error required Patient.name[0].family']],
			[patient({ name: [{ family: 'A' }, { family: 'B' }, { family: 'C' }] }), ['error structure Patient.name']],
			[patient({ name: [{ family: 'A' }], photo: [{ title: 'x' }] }), ['error structure Patient.photo']],
		],
	},
	{
		title: 'fixed values and patterns',
		type: 'Observation',
		elements: [
			{ id: 'Observation.status', path: 'Observation.status', fixedCode: 'final' },
			{ id: 'Observation.code', path: 'Observation.code', patternCodeableConcept: coding('urn:s', 'a') },
		],
		good: [
			observation({
				code: {
					coding: [
						{ system: 'urn:t', code: 'z' },
						{ system: 'urn:s', code: 'a', display: 'A' },
					],
					text: 'x',
				},
			}),
		],
		bad: [
			[observation({ status: 'amended', code: coding('urn:s', 'a') }), ['error value Observation.status']],
			[observation({ code: coding('urn:s', 'b') }), ['error value Observation.code']],
		],
	},
	{
		title: 'types of a choice',
		type: 'Observation',
		elements: [{ id: 'Observation.value[x]', path: 'Observation.value[x]', type: [{ code: 'Quantity' }, { code: 'dateTime' }] }],
		good: [observation({ valueQuantity: { value: 1 } }), observation({ valueDateTime: '2026-01-01' }), observation()],
		bad: [[observation({ valueString: 'x' }), ['error structure Observation.value']]],
	},
	{
		title: 'the slices of a choice by its type',
		type: 'Observation',
		elements: [
			{
				id: 'Observation.value[x]',
				path: 'Observation.value[x]',
				slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' },
			},
			{ id: 'Observation.value[x]:valueQuantity', path: 'Observation.value[x]', sliceName: 'valueQuantity', type: [{ code: 'Quantity' }] },
			{ id: 'Observation.value[x]:valueQuantity.unit', path: 'Observation.value[x].unit', min: 1 },
		],
		good: [observation({ valueQuantity: { value: 1, unit: 'g' } }), observation({ valueString: 'x' })],
		bad: [[observation({ valueQuantity: { value: 1 } }), ['error required Observation.value.unit']]],
	},
	{
		title: 'slices by a value',
		type: 'Observation',
		elements: [
			{
				id: 'Observation.component',
				path: 'Observation.component',
				slicing: { discriminator: [{ type: 'value', path: 'code.coding.code' }], rules: 'closed' },
			},
			{ id: 'Observation.component:one', path: 'Observation.component', sliceName: 'one', min: 1, max: '1' },
			{ id: 'Observation.component:one.code.coding.code', path: 'Observation.component.code.coding.code', fixedCode: 'one' },
			{ id: 'Observation.component:one.value[x]', path: 'Observation.component.value[x]', min: 1 },
			{ id: 'Observation.component:two', path: 'Observation.component', sliceName: 'two', min: 0 },
			{ id: 'Observation.component:two.code.coding.code', path: 'Observation.component.code.coding.code', fixedCode: 'two' },
		],
		good: [observation({ component: [{ code: coding('urn:s', 'two') }, { code: coding('urn:s', 'one'), valueString: 'x' }] })],
		bad: [
			[observation({ component: [{ code: coding('urn:s', 'two') }] }), ['error required Observation.component']],
			[observation({ component: [{ code: coding('urn:s', 'one') }] }), ['error required Observation.component[0].value']],
			[
				observation({ component: [{ code: coding('urn:s', 'one'), valueString: 'x' }, { code: coding('urn:s', 'x') }] }),
				['error structure Observation.component[1]'],
			],
			[
				observation({ component: ['x', 'y'].map((valueString) => ({ code: coding('urn:s', 'one'), valueString })) }),
				['error structure Observation.component'],
			],
		],
	},
	{
		title: 'slices by a pattern of the value itself, and by a value set',
		type: 'Observation',
		elements: [
			{
				id: 'Observation.category',
				path: 'Observation.category',
				slicing: { discriminator: [{ type: 'pattern', path: '$this' }], rules: 'open' },
			},
			{
				id: 'Observation.category:lab',
				path: 'Observation.category',
				sliceName: 'lab',
				min: 1,
				patternCodeableConcept: coding('urn:c', 'laboratory'),
			},
			{
				id: 'Observation.interpretation',
				path: 'Observation.interpretation',
				slicing: { discriminator: [{ type: 'value', path: '$this' }], rules: 'open' },
			},
			{
				id: 'Observation.interpretation:known',
				path: 'Observation.interpretation',
				sliceName: 'known',
				max: '1',
				binding: { strength: 'required', valueSet: 'urn:vs' },
			},
		],
		good: [
			observation({
				category: [coding('urn:c', 'x'), coding('urn:c', 'laboratory')],
				interpretation: [coding('urn:s', 'a'), coding('urn:s', 'z')],
			}),
		],
		bad: [
			[observation({ category: [coding('urn:c', 'x')] }), ['error required Observation.category']],
			[
				observation({ category: [coding('urn:c', 'laboratory')], interpretation: [coding('urn:s', 'a'), coding('urn:s', 'b')] }),
				['error structure Observation.interpretation'],
			],
		],
	},
	{
		title: 'slices by whether an element exists',
		type: 'Patient',
		elements: [
			{
				id: 'Patient.contact',
				path: 'Patient.contact',
				slicing: { discriminator: [{ type: 'exists', path: 'organization' }], rules: 'open' },
			},
			{ id: 'Patient.contact:person', path: 'Patient.contact', sliceName: 'person' },
			{ id: 'Patient.contact:person.organization', path: 'Patient.contact.organization', max: '0' },
			{ id: 'Patient.contact:person.name', path: 'Patient.contact.name', min: 1 },
		],
		good: [patient({ contact: [{ organization: { display: 'x' } }, { name: { text: 'y' } }] })],
		bad: [[patient({ contact: [{ telecom: [{ value: '1' }] }] }), ['error required Patient.contact[0].name']]],
	},
	{
		title: 'extensions by their url',
		type: 'Patient',
		elements: [
			{
				id: 'Patient.extension:plan',
				path: 'Patient.extension',
				sliceName: 'plan',
				min: 1,
				max: '1',
				type: [{ code: 'Extension', profile: [`${base}/plan`] }],
			},
		],
		good: [patient(extension(`${base}/plan`, { valueCode: 'a' }))],
		bad: [
			[patient(extension('urn:other', { valueCode: 'a' })), ['error required Patient.extension']],
			[patient(extension(`${base}/plan`, { valueString: 'a' })), ['error structure Patient.extension[0].value']],
		],
	},
	{
		title: 'a slice by the profile of what a reference leads to',
		type: 'Patient',
		elements: [
			{
				id: 'Patient.generalPractitioner',
				path: 'Patient.generalPractitioner',
				slicing: { discriminator: [{ type: 'profile', path: 'resolve()' }], rules: 'open' },
			},
			{
				id: 'Patient.generalPractitioner:named',
				path: 'Patient.generalPractitioner',
				sliceName: 'named',
				min: 1,
				type: [{ code: 'Reference', targetProfile: [`${base}/named`] }],
			},
		],
		good: [
			patient({
				contained: [{ resourceType: 'Practitioner', id: 'p', name: [{ text: 'A' }] }],
				generalPractitioner: [{ reference: '#p' }],
			}),
		],
		bad: [
			[
				patient({ contained: [{ resourceType: 'Practitioner', id: 'p' }], generalPractitioner: [{ reference: '#p' }] }),
				['error required Patient.generalPractitioner'],
			],
		],
	},
	{
		title: 'entries of a Bundle by the type of their resources',
		type: 'Bundle',
		elements: [
			{ id: 'Bundle.entry', path: 'Bundle.entry', slicing: { discriminator: [{ type: 'type', path: 'resource' }], rules: 'open' } },
			{ id: 'Bundle.entry:person', path: 'Bundle.entry', sliceName: 'person', min: 1 },
			{ id: 'Bundle.entry:person.resource', path: 'Bundle.entry.resource', min: 1, type: [{ code: 'Patient' }] },
		],
		good: [{ resourceType: 'Bundle', type: 'collection', entry: [{ resource: observation() }, { resource: patient() }] }],
		bad: [[{ resourceType: 'Bundle', type: 'collection', entry: [{ resource: observation() }] }, ['error required Bundle.entry']]],
	},
	{
		title: 'required value sets',
		type: 'Observation',
		elements: [
			{ id: 'Observation.code', path: 'Observation.code', binding: { strength: 'required', valueSet: 'urn:vs|1.0' } },
			{ id: 'Observation.method', path: 'Observation.method', binding: { strength: 'preferred', valueSet: 'urn:vs' } },
		],
		good: [observation({ code: { coding: [{ code: 'x' }, { system: 'urn:s', code: 'b' }] }, method: coding('urn:s', 'z') })],
		bad: [
			[observation({ code: coding('urn:s', 'c') }), ['error code-invalid Observation.code']],
			[observation({ code: { text: 'b' } }), ['error code-invalid Observation.code']],
		],
	},
	{
		title: 'invariants in FHIRPath',
		type: 'Observation',
		elements: [
			{
				id: 'Observation',
				path: 'Observation',
				constraint: [
					{ key: 'own-1', severity: 'error', human: 'A value or a reason', expression: 'value.exists() or dataAbsentReason.exists()' },
					{ key: 'own-2', severity: 'warning', human: 'A method', expression: 'method.exists()' },
				],
			},
			{
				id: 'Observation.effective[x]',
				path: 'Observation.effective[x]',
				constraint: [
					{ key: 'own-3', severity: 'error', human: 'A day', expression: '$this is dateTime implies $this.toString().length() >= 10' },
				],
			},
		],
		good: [observation({ valueString: 'x', method: { text: 'm' }, effectiveDateTime: '2026-01-01' })],
		bad: [
			[
				observation({ effectiveDateTime: '2026' }),
				['error invariant Observation', 'warning invariant Observation', 'error invariant Observation.effective'],
			],
		],
	},
	{
		title: 'the types of references',
		type: 'Observation',
		elements: [
			{
				id: 'Observation.subject',
				path: 'Observation.subject',
				type: [{ code: 'Reference', targetProfile: ['http://hl7.org/fhir/StructureDefinition/Patient'] }],
			},
		],
		good: [observation({ subject: { reference: 'Patient/1' } }), observation({ subject: { display: 'x' } })],
		bad: [[observation({ subject: { reference: 'Group/1' } }), ['error value Observation.subject']]],
	},
];

describe('a profile demands', () => {
	const plan = profileOf('plan', 'Extension', [
		{ id: 'Extension.url', path: 'Extension.url', fixedUri: `${base}/plan` },
		{ id: 'Extension.value[x]', path: 'Extension.value[x]', min: 1, type: [{ code: 'code' }] },
	]);
	const named = profileOf('named', 'Practitioner', [{ id: 'Practitioner.name', path: 'Practitioner.name', min: 1 }]);
	for (const { title, type, elements, good, bad } of rows) {
		test(title, () => {
			const profile = profileOf('own', type, elements);
			for (const resource of good) assert.deepEqual(found(resource, profile, plan, named), []);
			for (const [resource, issues] of bad) assert.deepEqual(found(resource, profile, plan, named), issues, JSON.stringify(resource));
		});
	}
});

describe('a profile', () => {
	const parent = profileOf('parent', 'Observation', [
		{
			id: 'Observation.category',
			path: 'Observation.category',
			slicing: { discriminator: [{ type: 'value', path: 'coding.code' }], rules: 'open' },
		},
		{ id: 'Observation.category:lab', path: 'Observation.category', sliceName: 'lab' },
		{ id: 'Observation.category:lab.coding.code', path: 'Observation.category.coding.code', fixedCode: 'lab' },
		{ id: 'Observation.method', path: 'Observation.method', min: 1 },
	]);
	const child = profileOf(
		'child',
		'Observation',
		[{ id: 'Observation.category:lab', path: 'Observation.category', sliceName: 'lab', min: 1 }],
		parent.url,
	);

	test('without a snapshot builds on the one that it derives from', () => {
		const good = observation({ category: [coding('urn:s', 'lab')], method: { text: 'm' } });
		assert.deepEqual(found(good, child, parent), []);
		assert.deepEqual(found(observation(), child, parent), ['error required Observation.category', 'error required Observation.method']);
	});

	test('says so when nobody knows the one that it derives from, or a part of what it demands', () => {
		assert.ok(found(observation(), child).includes('error not-found Observation'));
		const bound = profileOf('bound', 'Observation', [
			{ id: 'Observation.code', path: 'Observation.code', binding: { strength: 'required', valueSet: 'urn:unlisted' } },
			{
				id: 'Observation',
				path: 'Observation',
				constraint: [{ key: 'x-1', severity: 'error', human: 'x', expression: 'nobody.knows(this)' }],
			},
		]);
		assert.deepEqual(found(observation({ code: coding('urn:elsewhere', '1') }), bound), [
			'information incomplete',
			'information incomplete',
		]);
	});

	test('is for resources of its type only', () => {
		assert.deepEqual(found(patient(), parent), ['error invalid Patient']);
	});

	test('that refers to itself in circles ends', () => {
		const circle = profileOf('circle', 'Patient', [
			{ id: 'Patient.link.other', path: 'Patient.link.other', type: [{ code: 'Reference', targetProfile: [`${base}/circle`] }] },
		]);
		const link = [{ type: 'seealso', other: { reference: '#a' } }];
		const resource = patient({ contained: [{ resourceType: 'Patient', id: 'a', link }], link });
		assert.deepEqual(found(resource, circle), []);
		const own = profileOf('self', 'Observation', [{ id: 'Observation.method', path: 'Observation.method', max: '0' }], `${base}/self`);
		assert.deepEqual(found(observation(), own), ['error not-found Observation']);
	});

	test('of another version of FHIR, or that constrains nothing, is not read', () => {
		const given = { resourceType: 'StructureDefinition', url: 'urn:p', name: 'P', type: 'Patient', derivation: 'constraint' };
		const element = [{ id: 'Patient', path: 'Patient' }];
		assert.throws(() => readProfile({ ...given, fhirVersion: '5.0.0', snapshot: { element } }), /another version of FHIR/);
		assert.throws(() => readProfile({ ...given, derivation: 'specialization', snapshot: { element } }), /derivation is constraint/);
		assert.throws(() => readProfile(given), /snapshot or a differential/);
	});
});
