import r4 from './bundled/r4.json' with { type: 'json' };
import usCore from './bundled/us-core.json' with { type: 'json' };
import ips from './bundled/uv-ips.json' with { type: 'json' };
import { type Definition, type DefinitionKind, type DefinitionSource, Library } from './library.ts';
import type { Line } from './line.ts';

/** The definitions that ship with the product. Each is parsed when it is first asked for. */
class BundledSource implements DefinitionSource {
	readonly #texts = new Map<string, string[]>();
	readonly #parsed = new Map<string, readonly Definition[]>();

	constructor(...parts: readonly (readonly Line[])[]) {
		for (const [kind, url, text] of parts.flat()) {
			const name = `${kind} ${url}`;
			this.#texts.set(name, [...(this.#texts.get(name) ?? []), text]);
		}
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

let source: BundledSource | undefined;

/** Returns what ships: profiles, extensions and terms of R4, US Core and IPS. */
export function bundled(): BundledSource {
	source ??= new BundledSource(...([r4, usCore, ips] as unknown as readonly (readonly Line[])[]));
	return source;
}

let library: Library | undefined;

/** Returns the library of a site that has loaded nothing of its own. */
export function bundledLibrary(): Library {
	library ??= new Library(bundled());
	return library;
}
