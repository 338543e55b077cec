import type { Json, JsonObject } from '#core/json.ts';
import type { Definitions, ElementDefinition, StructureDefinition } from './definitions.ts';

/** Makes a smallest body of a type from its mandatory elements. */

type ElementType = NonNullable<ElementDefinition['type']>[number];

/** Values of primitive types, and of datatypes whose mandatory elements alone say nothing. They are invented. */
const values: Readonly<Record<string, Json>> = {
	base64Binary: 'RXhhbXBsZQ==',
	boolean: true,
	canonical: 'http://example.org/fhir/example',
	code: 'example',
	date: '2024-05-01',
	dateTime: '2024-05-01',
	decimal: 1,
	id: 'example',
	instant: '2024-05-01T10:00:00Z',
	integer: 1,
	markdown: 'Example',
	oid: 'urn:oid:1.2.3',
	positiveInt: 1,
	string: 'Example',
	time: '10:00:00',
	unsignedInt: 1,
	uri: 'http://example.org/example',
	url: 'http://example.org/example',
	uuid: 'urn:uuid:6f1f6a0c-5d3f-4f60-9d8e-2c9c4b9d8a11',
	Address: { text: 'Example' },
	Annotation: { text: 'Example' },
	Attachment: { title: 'Example' },
	CodeableConcept: { text: 'Example' },
	Coding: { system: 'http://example.org/codes', code: 'example' },
	ContactPoint: { system: 'phone', value: '555 0100' },
	DataRequirement: { type: 'Patient' },
	Dosage: { text: 'Example' },
	Duration: { value: 1, system: 'http://unitsofmeasure.org', code: 'd' },
	Expression: { language: 'text/fhirpath', expression: 'true' },
	HumanName: { text: 'Alba Rivers' },
	Identifier: { system: 'http://example.org/numbers', value: '1' },
	Money: { value: 1, currency: 'EUR' },
	Period: { start: '2024-05-01' },
	Quantity: { value: 1 },
	Range: { low: { value: 1 } },
	Ratio: { numerator: { value: 1 }, denominator: { value: 1 } },
	Reference: { display: 'Example' },
	SimpleQuantity: { value: 1 },
	Timing: { event: ['2024-05-01'] },
};

/** Codes of value sets that the definitions do not list. */
const codes: Readonly<Record<string, string>> = {
	'http://hl7.org/fhir/ValueSet/currencies': 'EUR',
	'http://hl7.org/fhir/ValueSet/mimetypes': 'text/plain',
};

/** Members that an invariant of the element asks for beside its mandatory ones. */
const byInvariant: Readonly<Record<string, JsonObject>> = {
	AllergyIntolerance: {
		clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }] },
	},
	'Appointment.participant': { actor: { display: 'Example' } },
	AppointmentResponse: { actor: { display: 'Example' } },
	CapabilityStatement: { implementation: { description: 'Example' }, rest: [{ mode: 'server' }] },
	Consent: { policyRule: { text: 'Example' } },
	'ImmunizationRecommendation.recommendation': { vaccineCode: [{ text: 'Example' }] },
	InsurancePlan: { name: 'Example' },
	Linkage: {
		item: [
			{ type: 'source', resource: { display: 'Example' } },
			{ type: 'alternate', resource: { display: 'Another example' } },
		],
	},
	Organization: { name: 'Example' },
	StructureDefinition: { kind: 'resource', type: 'Example', differential: { element: [{ id: 'Example', path: 'Example' }] } },
	TriggerDefinition: { name: 'example' },
	TerminologyCapabilities: { implementation: { description: 'Example' } },
};

export function exampleOf(definitions: Definitions, type: string): JsonObject {
	return new Examples(definitions).members(definitions.structure(type), type);
}

class Examples {
	readonly #definitions: Definitions;

	constructor(definitions: Definitions) {
		this.#definitions = definitions;
	}

	members(structure: StructureDefinition, path: string): JsonObject {
		const needed = structure.snapshot.element.filter((element) => parentOf(element.path) === path && element.min > 0);
		return { ...Object.fromEntries(needed.map((element) => this.#member(structure, element))), ...byInvariant[path] };
	}

	#member(structure: StructureDefinition, element: ElementDefinition): [string, Json] {
		const name = element.path.slice(element.path.lastIndexOf('.') + 1);
		const [type] = element.type ?? [];
		const called = name.endsWith('[x]') ? name.replace('[x]', capitalized(type?.code ?? '')) : name;
		const value = this.#value(structure, element, type);
		return [called, element.max === '1' ? value : [value]];
	}

	#value(structure: StructureDefinition, { path, binding, contentReference }: ElementDefinition, type: ElementType | undefined): Json {
		if (contentReference !== undefined) return this.members(structure, contentReference.slice(1));
		if (type === undefined || type.code === 'BackboneElement' || type.code === 'Element') return this.members(structure, path);
		if (type.code.startsWith('http:')) return values['uri'] as Json;
		const bound = binding?.strength === 'required' ? binding.valueSet : undefined;
		if (bound !== undefined) return this.#bound(type.code, bound);
		return values[type.code] ?? this.members(this.#definitions.structure(type.code), type.code);
	}

	/** Returns a value with the first code of a value set. */
	#bound(datatype: string, canonical: string): Json {
		const listed = codes[canonical.split('|')[0] ?? ''];
		if (listed !== undefined) return listed;
		const [[system = '', [code = ''] = []] = []] = Object.entries(this.#definitions.expansion(canonical) ?? {});
		if (code === '') throw new Error(`the codes of ${canonical} are not listed`);
		if (datatype === 'CodeableConcept') return { coding: [{ system, code }] };
		return datatype === 'Coding' ? { system, code } : code;
	}
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('.')));
const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
