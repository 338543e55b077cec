import type { Json, JsonObject } from '#core/json.ts';
import type { Definitions, ElementDefinition, StructureDefinition } from '#fhir/validation/generator/definitions.ts';

/**
 * Resources of any type of R4 with every element that its StructureDefinition has, straight from that. Which form of a choice, which
 * target of a reference and which code is taken goes by turns, so that some variants together have all of them. They keep no invariants.
 */
export function fullResource(definitions: Definitions, type: string, variant: number): JsonObject {
	return { resourceType: type, ...new Filler(definitions, variant).members(definitions.structure(type), type, 0) };
}

type ElementType = NonNullable<ElementDefinition['type']>[number];

/** The elements of these are left out: no search parameter of one type looks into them, and their content would be endless. */
const bases = /^(Resource|DomainResource|Element|BackboneElement)\./;
const depthMax = 5;

class Filler {
	readonly #definitions: Definitions;
	readonly #variant: number;
	readonly #turns = new Map<string, number>();
	#filled = 0;

	constructor(definitions: Definitions, variant: number) {
		this.#definitions = definitions;
		this.#variant = variant;
	}

	members(structure: StructureDefinition, path: string, depth: number): JsonObject {
		if (depth > depthMax) return { id: 'deep' };
		const inside = structure.snapshot.element.filter(
			(element) => element.path.startsWith(`${path}.`) && !element.path.slice(path.length + 1).includes('.') && element.max !== '0',
		);
		const members: JsonObject = {};
		for (const element of inside) {
			const name = element.path.slice(path.length + 1);
			if (bases.test(element.base.path)) continue;
			const type = element.type?.[this.#next(element.path, element.type.length)];
			const called = name.endsWith('[x]') ? name.replace('[x]', capitalized(type?.code ?? '')) : name;
			const value = () => this.#value(structure, element, type, depth);
			members[called] = element.max === '1' ? value() : [value(), value()];
		}
		return members;
	}

	#value(structure: StructureDefinition, element: ElementDefinition, type: ElementType | undefined, depth: number): Json {
		if (element.contentReference !== undefined) return this.members(structure, element.contentReference.slice(1), depth + 2);
		if (type === undefined || type.code === 'BackboneElement' || type.code === 'Element') {
			return this.members(structure, element.path, depth + 1);
		}
		if (type.code === 'Reference') return this.#reference(element, type);
		if (type.code === 'code') return this.#code(element);
		if (/^[a-z]/.test(type.code)) return this.#primitive(type.code);
		if (this.#definitions.isResource(type.code)) return { resourceType: 'Basic', id: this.#text() };
		return this.members(this.#definitions.structure(type.code), type.code, depth + 1);
	}

	#reference({ path }: ElementDefinition, { targetProfile = [] }: ElementType): Json {
		const targets = targetProfile.map((url) => url.slice(url.lastIndexOf('/') + 1)).filter((name) => name !== 'Resource');
		const all = targets.length === 0 ? ['Patient', 'Practitioner', 'Location', 'Observation'] : targets;
		return { reference: `${all[this.#next(path, all.length)]}/${this.#text()}` };
	}

	#code({ path, binding }: ElementDefinition): Json {
		const codes = binding?.valueSet === undefined ? [] : Object.values(this.#definitions.expansion(binding.valueSet) ?? {}).flat();
		return codes[this.#next(path, codes.length)] ?? this.#text();
	}

	#primitive(type: string): Json {
		const turn = this.#variant + this.#filled++;
		const day = String((turn % 28) + 1).padStart(2, '0');
		if (type === 'boolean') return turn % 2 === 0;
		if (type === 'date' || type === 'dateTime') return `2024-03-${day}`;
		if (type === 'instant') return `2024-03-${day}T10:00:00Z`;
		if (type === 'time') return '10:00:00';
		if (['uri', 'url', 'canonical'].includes(type)) return `http://example.org/${this.#text()}`;
		return ['decimal', 'integer', 'positiveInt', 'unsignedInt'].includes(type) ? turn : this.#text();
	}

	#text(): string {
		return `t${this.#filled++}`;
	}

	/** Takes one of some: the next with each variant, and each time that the element is filled. */
	#next(path: string, of: number): number {
		const turn = this.#turns.get(path) ?? this.#variant;
		this.#turns.set(path, turn + 1);
		return of === 0 ? 0 : turn % of;
	}
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
