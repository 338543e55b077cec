import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { asText } from '../elements.ts';
import { readCodeSystem, readValueSet } from '../terminology/read-terms.ts';
import { parseResourceJson } from '../validation/json.ts';
import type { Definition } from './library.ts';
import { filesOfPackage } from './package.ts';
import { readProfile } from './read-profile.ts';

/** The definitions that a file brings. */
export interface Definitions {
	/** Name and version of the package; undefined for a single definition. */
	package: { name: string; version: string } | undefined;
	definitions: Definition[];
	/** Definitions in the package that are none of profiles, value sets or code systems, or that cannot be used, with the reason. */
	passedOver: { file: string; reason: string }[];
}

/** The depth of a definition. It bounds the parser's stack. */
const depthMax = 100;

/**
 * Reads a file with one StructureDefinition, ValueSet or CodeSystem in JSON, or a FHIR package (package.tgz). `prepare` may change a definition before
 * it is read.
 * @throws Failure when a single definition cannot be used, or when the file is neither
 */
export function readDefinitions(
	bytes: Uint8Array,
	unpackedBytesMax: number,
	prepare: (definition: JsonObject) => JsonObject = (definition) => definition,
): Definitions {
	const isPackage = bytes[0] === 0x1f && bytes[1] === 0x8b;
	if (isPackage) return readPackage(bytes, unpackedBytesMax, prepare);
	return { package: undefined, definitions: [readDefinition(prepare(parseResourceJson(bytes, { depthMax })))], passedOver: [] };
}

function readDefinition(resource: JsonObject): Definition {
	switch (resource['resourceType']) {
		case 'StructureDefinition':
			return readProfile(resource);
		case 'ValueSet':
			return readValueSet(resource);
		case 'CodeSystem':
			return readCodeSystem(resource);
		default:
			throw new Failure('business-rule', 'a StructureDefinition, ValueSet or CodeSystem, or a package of them, is expected');
	}
}

/** A package has its definitions in the folder `package`; examples are in folders below it. */
const definitionFile = /^package\/(?:StructureDefinition|ValueSet|CodeSystem)[^/]*\.json$/i;

function readPackage(bytes: Uint8Array, unpackedBytesMax: number, prepare: (definition: JsonObject) => JsonObject): Definitions {
	const files = filesOfPackage(bytes, unpackedBytesMax);
	const manifest = files.find(({ name }) => name === 'package/package.json');
	if (manifest === undefined) throw new Failure('invalid', 'a FHIR package has the file package/package.json');
	const head = parseResourceJson(manifest.bytes, { depthMax });
	const [name, version] = [asText(head['name']), asText(head['version'])];
	if (name === undefined || version === undefined) throw new Failure('invalid', 'package.json of a FHIR package has name and version');
	const read: Definitions = { package: { name, version }, definitions: [], passedOver: [] };
	for (const file of files) {
		if (!definitionFile.test(file.name)) continue;
		try {
			read.definitions.push(readDefinition(prepare(parseResourceJson(file.bytes, { depthMax }))));
		} catch (error) {
			if (!(error instanceof Failure)) throw error;
			read.passedOver.push({ file: file.name.slice('package/'.length), reason: error.diagnostics });
		}
	}
	return read;
}
