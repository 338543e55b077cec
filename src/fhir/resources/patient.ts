import { dayMs } from '#core/date-range.ts';
import type { JsonObject } from '#core/json.ts';
import { dayBounds } from '../date.ts';
import { asObjects, asText, asTexts } from '../elements.ts';
import { folded, plain } from '../fold.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeColumn,
	codeParameter,
	conceptParameter,
	contactParameter,
	elementReference,
	oneColumn,
	textParameter,
	valueParameter,
} from '../search-columns.ts';

/** https://hl7.org/fhir/R4/patient.html */
export const patient = defineResource({
	type: 'Patient',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'patient',
	compartment: 'self',
	links: [{ name: 'merged_into', sqlType: 'uuid' }],
	columns: [
		oneColumn('active', 'boolean', (resource) => resource['active'] !== false),
		oneColumn('name', 'text', nameText),
		{
			columns: [
				{ name: 'birth_date', sqlType: 'date' },
				{ name: 'birth_date_end', sqlType: 'date' },
			],
			valuesOf: (resource) => dayBounds(asText(resource['birthDate'])),
		},
		codeColumn('gender'),
	],
	search: {
		identifier: {
			type: 'token',
			match: 'identifier',
			ofType: ['$.identifier'],
			path: '$.identifier',
			documentation: 'A business identifier of the site, also one that a merge carried over',
		},
		name: {
			type: 'string',
			match: 'substring',
			column: 'name',
			paths: ['$.name.text', '$.name.family', '$.name.given', '$.name.prefix', '$.name.suffix'],
			presence: ['$.name'],
			documentation: 'Any part of any name, without regard to case and accents',
		},
		family: {
			type: 'string',
			match: 'element',
			paths: ['$.name.family'],
			column: 'name',
			documentation: 'The start of a family name',
		},
		given: {
			type: 'string',
			match: 'element',
			paths: ['$.name.given'],
			column: 'name',
			documentation: 'The start of a given name',
		},
		birthdate: {
			type: 'date',
			match: 'range',
			columnType: 'date',
			startColumn: 'birth_date',
			endColumn: 'birth_date_end',
			longestMs: 366 * dayMs,
			documentation: 'The date of birth',
		},
		gender: codeParameter('gender', 'http://hl7.org/fhir/administrative-gender', 'Administrative gender'),
		active: valueParameter('active', 'Whether the record is in use'),
		deceased: {
			type: 'token',
			match: 'element',
			paths: ['$.deceasedBoolean == true || exists($.deceasedDateTime)'],
			form: 'value',
			presence: ['$.deceasedBoolean', '$.deceasedDateTime'],
			documentation: 'Whether the patient is known to have died',
		},
		telecom: contactParameter('$.telecom', 'Any phone number, e-mail address or other contact'),
		phone: contactParameter('$.telecom[*] ? (@.system == "phone")', 'A phone number'),
		email: contactParameter('$.telecom[*] ? (@.system == "email")', 'An e-mail address'),
		address: textParameter(
			[
				'$.address.text',
				'$.address.line',
				'$.address.city',
				'$.address.district',
				'$.address.state',
				'$.address.postalCode',
				'$.address.country',
			],
			'The start of any part of an address',
			['$.address'],
		),
		'address-city': textParameter(['$.address.city'], 'The start of a city'),
		'address-state': textParameter(['$.address.state'], 'The start of a state'),
		'address-postalcode': textParameter(['$.address.postalCode'], 'The start of a postal code'),
		'address-country': textParameter(['$.address.country'], 'The start of a country'),
		'address-use': {
			type: 'token',
			match: 'element',
			paths: ['$.address.use'],
			form: 'value',
			system: 'http://hl7.org/fhir/address-use',
			documentation: 'What an address is used for',
		},
		language: conceptParameter('communication.language', 'A language in which the patient can be spoken to'),
		'general-practitioner': elementReference(
			'generalPractitioner',
			['Organization', 'Practitioner', 'PractitionerRole'],
			'The care provider whom the patient named',
		),
		organization: elementReference('managingOrganization', ['Organization'], 'Who keeps the record'),
		link: elementReference('link.other', ['Patient', 'RelatedPerson'], 'Another record of the same person'),
	},
	summary:
		'implicitRules identifier active name telecom gender birthDate deceasedBoolean deceasedDateTime address managingOrganization link'.split(
			' ',
		),
	mandatory: [],
	example: {
		identifier: [{ system: 'urn:oid:1.2.3.4', value: '4711' }],
		name: [{ text: 'Alba Rivers', family: 'Rivers', given: ['Alba'] }],
		gender: 'female',
		birthDate: '1981-06-12',
	},
});

/**
 * Returns all names folded, each as it is displayed and by its parts, so that any part of either is found; behind them the same without
 * accents, where it differs.
 */
function nameText(resource: JsonObject): string {
	const names = asObjects(resource['name']).map((name) => {
		const parts = [...asTexts(name['prefix']), ...asTexts(name['given']), asText(name['family']) ?? '', ...asTexts(name['suffix'])].filter(
			(part) => part !== '',
		);
		const built = folded(parts.join(' '));
		const text = folded(asText(name['text']) ?? '');
		return text === '' || text === built ? built : `${text}\n${built}`;
	});
	const text = names.join('\n');
	const withoutAccents = plain(text);
	return withoutAccents === text ? text : `${text}\n${withoutAccents}`;
}
