/** The parts of the FHIR R4 definitions that the generator reads. */

export interface ElementDefinition {
	path: string;
	min: number;
	max: string;
	base: { path: string };
	type?: { code: string; profile?: string[]; targetProfile?: string[] }[];
	contentReference?: string;
	binding?: { strength: string; valueSet?: string };
	constraint?: { key: string; severity: string; human: string }[];
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

export interface DefinitionBundle {
	entry: { resource: StructureDefinition | CodeSystem | ValueSet | { resourceType: 'other' } }[];
}

/** Codes by their system. */
export type Expansion = Record<string, string[]>;

/** Elements that the publisher of the package has added to those of R4. */
const notOfR4 = new Set([
	...['project', 'author', 'onBehalfOf', 'account', 'accounts', 'compartment', 'deleted'].map((name) => `Meta.${name}`),
	'Binary.url',
]);

export class Definitions {
	readonly #structures = new Map<string, StructureDefinition>();
	readonly #codeSystems = new Map<string, CodeSystem>();
	readonly #valueSets = new Map<string, ValueSet>();

	constructor(...bundles: DefinitionBundle[]) {
		for (const { resource } of bundles.flatMap(({ entry }) => entry)) {
			if (resource.resourceType === 'StructureDefinition') this.#structures.set(resource.name, resource);
			else if (resource.resourceType === 'CodeSystem') this.#codeSystems.set(resource.url, resource);
			else if (resource.resourceType === 'ValueSet') this.#valueSets.set(resource.url, resource);
		}
	}

	structure(name: string): StructureDefinition {
		const structure = this.#structures.get(name);
		if (structure === undefined) throw new Error(`there is no StructureDefinition ${name}`);
		return { ...structure, snapshot: { element: structure.snapshot.element.filter(({ path }) => !notOfR4.has(path)) } };
	}

	isResource(name: string): boolean {
		return this.structure(name).kind === 'resource';
	}

	/** Returns the resource types of R4, without abstract ones. */
	resourceTypes(): string[] {
		const isOne = ({ kind, abstract, fhirVersion, name }: StructureDefinition) =>
			kind === 'resource' && !abstract && fhirVersion === '4.0.1' && !['Resource', 'DomainResource'].includes(name);
		return [...this.#structures.values()]
			.filter(isOne)
			.map(({ name }) => name)
			.sort();
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
