import { createRequire } from 'node:module';
import { z } from 'zod';

/** The package has no types, so its content is checked when it is loaded. */
const load: (path: string) => unknown = createRequire(import.meta.url);

/** Table 0104 (version id) is wrong in the package: it lists 2.5.1 as release 1.5.1. */
const wrong = new Set([104]);

const part = z.object({ desc: z.string(), datatype: z.string(), table: z.number().int().optional() });
const segments = z.record(z.string(), z.object({ desc: z.string(), fields: z.array(part) }));
const datatypes = z.record(z.string(), z.object({ desc: z.string(), subfields: z.array(part) }));
const tables = z.record(z.string(), z.object({ desc: z.string().optional(), values: z.record(z.string(), z.string()).optional() }));

/** Table 0396 of the package lost the character of this name. */
const lost = new Map([
	['Logical Observation Identifier Names and Codes (LOINC?R)', 'Logical Observation Identifier Names and Codes (LOINC®)'],
]);

/** A field, component or subcomponent of the standard. */
export interface NamedPart {
	name: string;
	/** `CX`, `ST`, …; empty where the value decides (OBX-5). */
	datatype: string;
	table: number | undefined;
}

/** The names that HL7 v2.5.1 gives. A part that it does not define has a number and no name. */
export class Hl7v2Names {
	readonly #segments: z.output<typeof segments>;
	readonly #datatypes: z.output<typeof datatypes>;
	readonly #tables: z.output<typeof tables>;

	constructor(given: { segments: unknown; datatypes: unknown; tables: unknown }) {
		this.#segments = segments.parse(given.segments);
		this.#datatypes = datatypes.parse(given.datatypes);
		this.#tables = tables.parse(given.tables);
	}

	segment(id: string): string | null {
		return (Object.hasOwn(this.#segments, id) && this.#segments[id]?.desc) || null;
	}

	field(segment: string, number: number): NamedPart | undefined {
		return Object.hasOwn(this.#segments, segment) ? named(this.#segments[segment]?.fields[number - 1]) : undefined;
	}

	component(datatype: string, number: number): NamedPart | undefined {
		return Object.hasOwn(this.#datatypes, datatype) ? named(this.#datatypes[datatype]?.subfields[number - 1]) : undefined;
	}

	/** Returns the meaning of a code in a table. */
	meaning(table: number | undefined, code: string): string | null {
		const values = table === undefined || wrong.has(table) ? undefined : this.#tables[String(table)]?.values;
		const meaning = (values && Object.hasOwn(values, code) && values[code]) || null;
		return meaning === null ? null : (lost.get(meaning) ?? meaning);
	}
}

function named(found: z.output<typeof part> | undefined): NamedPart | undefined {
	return found && { name: found.desc, datatype: found.datatype, table: found.table };
}

let loaded: Hl7v2Names | undefined;

/** Loads the names when the first message is read: a node that shows no messages saves about two megabytes of memory. */
export function hl7v2Names(): Hl7v2Names {
	loaded ??= new Hl7v2Names({
		segments: load('hl7-dictionary/lib/2.5.1/segments.js'),
		datatypes: load('hl7-dictionary/lib/2.5.1/fields.js'),
		tables: load('hl7-dictionary/lib/tables.js'),
	});
	return loaded;
}
