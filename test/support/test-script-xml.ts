import { DOMParser, type Element } from '@xmldom/xmldom';
import type { Definitions, ElementDefinition } from '#fhir/validation/generator/definitions.ts';
import type { FhirBody } from './service.ts';

/** Reads a resource in XML as JSON, by the definition of its type: what is a list, a number or a boolean. */
export function resourceFromXml(definitions: Definitions, text: string): FhirBody {
	const root = new DOMParser().parseFromString(text, 'text/xml').documentElement;
	if (root === null) throw new Error('the file has no element');
	const type = root.localName ?? '';
	return { resourceType: type, ...new Reader(definitions).members(root, type, type) };
}

class Reader {
	readonly #definitions: Definitions;

	constructor(definitions: Definitions) {
		this.#definitions = definitions;
	}

	members(element: Element, type: string, path: string): FhirBody {
		const members: FhirBody = {};
		const id = element.getAttribute('id');
		if (id !== null && id !== '') members.id = id;
		for (const child of Array.from(element.childNodes)) {
			if (child.nodeType !== child.ELEMENT_NODE) continue;
			const item = child as Element;
			const name = item.localName ?? '';
			if (name === 'text' && path === type) continue;
			const definition = this.#definitionOf(type, `${path}.${name}`);
			const value = this.#value(item, definition, type, `${path}.${name}`);
			if (definition?.max === '1') members[name] = value;
			else members[name] = [...(members[name] ?? []), value];
		}
		return members;
	}

	#definitionOf(type: string, path: string): ElementDefinition | undefined {
		return this.#definitions.structure(type).snapshot.element.find((element) => element.path === path);
	}

	#value(item: Element, definition: ElementDefinition | undefined, type: string, path: string): FhirBody {
		const code = definition?.type?.[0]?.code ?? '';
		const value = item.getAttribute('value');
		if (value !== null) {
			if (code === 'boolean') return value === 'true';
			return ['integer', 'decimal', 'positiveInt', 'unsignedInt'].includes(code) ? Number(value) : value;
		}
		const shared = definition?.contentReference?.slice(1);
		if (shared !== undefined) return this.members(item, type, shared);
		const isOwn = code === '' || code === 'BackboneElement' || code === 'Element' || /^[a-z]/.test(code);
		return isOwn ? this.members(item, type, path) : this.members(item, code, code);
	}
}
