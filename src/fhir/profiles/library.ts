import { type CodeSystem, isVersion, type ValueSet } from '../terminology/terms.ts';
import { Terminology } from '../terminology/value-sets.ts';
import type { Definitions } from './checking.ts';
import { type Compiled, compile } from './compile.ts';
import { canonicalOf, type Profile } from './profile.ts';

/** A definition that can be looked up by its canonical URL. */
export type Definition = Profile | CodeSystem | ValueSet;
export type DefinitionKind = Definition['kind'];

/** Definitions by kind and URL; those of one URL in the order in which they are preferred. */
export interface DefinitionSource {
	find(kind: DefinitionKind, url: string): readonly Definition[];
}

/** A source of definitions that are all in memory. */
export class DefinitionSet implements DefinitionSource {
	readonly #byName = new Map<string, Definition[]>();

	constructor(definitions: Iterable<Definition>) {
		for (const definition of definitions) {
			const name = `${definition.kind} ${definition.url}`;
			this.#byName.set(name, [...(this.#byName.get(name) ?? []), definition]);
		}
	}

	find(kind: DefinitionKind, url: string): readonly Definition[] {
		return this.#byName.get(`${kind} ${url}`) ?? [];
	}
}

/** Profiles, value sets and code systems of several sources; the first source is asked first. A profile is compiled when it is first used. */
export class Library implements Definitions {
	readonly terminology: Terminology;
	readonly #sources: readonly DefinitionSource[];
	readonly #compiled = new Map<Profile, Compiled>();

	constructor(...sources: readonly DefinitionSource[]) {
		this.#sources = sources;
		this.terminology = new Terminology({
			codeSystem: (canonical) => this.#find('CodeSystem', canonical),
			valueSet: (canonical) => this.#find('ValueSet', canonical),
			versions: (kind, url) => this.#sources.flatMap((source) => source.find(kind, url)).map(({ version }) => version),
		});
	}

	profile(canonical: string): Compiled | undefined {
		const profile = this.#find('StructureDefinition', canonical);
		if (profile === undefined) return undefined;
		let compiled = this.#compiled.get(profile);
		if (compiled === undefined) {
			compiled = compile(profile, (base) => this.#find('StructureDefinition', base));
			this.#compiled.set(profile, compiled);
		}
		return compiled;
	}

	member(valueSet: string, system: string | undefined, code: string): boolean | undefined {
		return this.terminology.member(valueSet, system, code);
	}

	/** A version that is named counts for profiles. A value set of another version is better than none. */
	#find<Kind extends DefinitionKind>(kind: Kind, canonical: string): Extract<Definition, { kind: Kind }> | undefined {
		const { url, version } = canonicalOf(canonical);
		const found = this.#sources.flatMap((source) => source.find(kind, url)).filter((definition) => isOf(kind, definition));
		const exact = version === undefined ? found[0] : found.find((definition) => isVersion(definition.version, version));
		return exact ?? (kind === 'StructureDefinition' ? undefined : found[0]);
	}
}

function isOf<Kind extends DefinitionKind>(kind: Kind, definition: Definition): definition is Extract<Definition, { kind: Kind }> {
	return definition.kind === kind;
}
