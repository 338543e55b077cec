import { createRequire } from 'node:module';
import { type Definition, type DefinitionKind, type DefinitionSource, Library } from './library.ts';
import type { Line } from './line.ts';

/** Profiles, extensions and terms of R4, US Core and IPS. */
const files = ['./bundled/r4.json', './bundled/us-core.json', './bundled/uv-ips.json'];
const load = createRequire(import.meta.url);

/**
 * The definitions that ship with the product. The files are loaded when a definition is first asked for, since many nodes check no profile and each
 * of their threads would hold 4 MB for nothing; each definition is parsed when it is first asked for.
 */
class BundledSource implements DefinitionSource {
	#read: ReadonlyMap<string, string[]> | undefined;
	readonly #parsed = new Map<string, readonly Definition[]>();

	get #texts(): ReadonlyMap<string, string[]> {
		this.#read ??= readTexts();
		return this.#read;
	}

	find(kind: DefinitionKind, url: string): readonly Definition[] {
		const name = `${kind} ${url}`;
		const texts = this.#texts.get(name);
		if (texts === undefined) return [];
		let parsed = this.#parsed.get(name);
		if (parsed === undefined) {
			parsed = texts.map((text): Definition => JSON.parse(text));
			this.#parsed.set(name, parsed);
		}
		return parsed;
	}

	/** Returns the URLs of a kind. */
	urls(kind: DefinitionKind): string[] {
		return [...this.#texts.keys()].filter((name) => name.startsWith(`${kind} `)).map((name) => name.slice(kind.length + 1));
	}
}

function readTexts(): ReadonlyMap<string, string[]> {
	const texts = new Map<string, string[]>();
	for (const file of files) {
		const lines: readonly Line[] = load(file);
		for (const [kind, url, text] of lines) {
			const name = `${kind} ${url}`;
			texts.set(name, [...(texts.get(name) ?? []), text]);
		}
	}
	return texts;
}

const source = new BundledSource();

/** Returns what ships. */
export function bundled(): BundledSource {
	return source;
}

let library: Library | undefined;

/** Returns the library of a site that has loaded nothing of its own. */
export function bundledLibrary(): Library {
	library ??= new Library(bundled());
	return library;
}
