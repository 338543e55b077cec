import type { Json, JsonObject } from '#core/json.ts';
import { asObject, asText } from '../elements.ts';
import { resourceTypes } from '../validation/schemas/resource-types.ts';
import { primitiveTypeAt } from '../validation/type-at.ts';
import { mayHaveLinks, relinked } from './narrative-links.ts';
import { isReference, replaceText, visitTexts } from './texts.ts';

/** Matches a RESTful URL: its root, type and id. */
const restful = /^(https?:\/\/[^\s?#]+)\/([A-Za-z]+)\/([A-Za-z0-9.-]{1,64})$/;
/** Matches `Patient/1` and `Patient/1/_history/2`, with a root or without. */
const versioned = /^((?:https?:\/\/[^\s?#]+\/)?([A-Za-z]+)\/[A-Za-z0-9.-]{1,64})(?:\/_history\/([A-Za-z0-9.-]{1,64}))?$/;
const isRelative = /^[A-Za-z]+\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/** Returns the root of a RESTful fullUrl: the base of the server on which the resource is `<type>/<id>`. */
function rootOf(fullUrl: string): string | undefined {
	const [, root, type = ''] = restful.exec(fullUrl) ?? [];
	return resourceTypes.has(type) ? root : undefined;
}

/** An entry that writes, as others may refer to it. */
interface Named {
	/** `meta.versionId` of its resource. */
	version: string | undefined;
	/** `Patient/1` where the entry keeps this id. */
	kept: string | undefined;
}

/**
 * The full URLs of a Bundle's entries. A relative reference belongs to the server of its entry (FHIR R4 §2.36.4.1): in a resource that is
 * `http://a/fhir/Observation/5` there, `Patient/1` is `http://a/fhir/Patient/1`, and never the Patient of that id here.
 */
export class FullUrls {
	readonly #named = new Map<string, Named>();
	/** Full URLs that are the canonical URL of their own resource. They are its name wherever it is stored. */
	readonly #canonical = new Set<string>();
	readonly #isTransaction: boolean;
	readonly #base: string;
	#someRestful = false;

	/** `base` is the FHIR base URL of this service, as the sender reached it. */
	constructor(entries: readonly Json[], type: 'batch' | 'transaction', base: string) {
		this.#isTransaction = type === 'transaction';
		this.#base = base.toLowerCase();
		for (const entry of entries) this.#add(asObject(entry));
	}

	#add(entry: JsonObject | undefined): void {
		const fullUrl = asText(entry?.['fullUrl']);
		const request = asObject(entry?.['request']);
		const method = asText(request?.['method']);
		if (fullUrl === undefined || method === 'GET' || method === 'HEAD') return;
		const resource = asObject(entry?.['resource']);
		const url = asText(request?.['url'])?.replace(/^\//, '') ?? '';
		const kept = method === 'PUT' && isRelative.test(url) ? url : undefined;
		this.#named.set(fullUrl, { version: asText(asObject(resource?.['meta'])?.['versionId']), kept });
		if (resource?.['url'] === fullUrl) this.#canonical.add(fullUrl);
		this.#someRestful ||= rootOf(fullUrl) !== undefined;
	}

	/** Tells whether an entry has the full URL. */
	names(fullUrl: string): boolean {
		return this.#named.has(fullUrl);
	}

	/** Tells whether a full URL also names its resource outside of the Bundle. */
	isCanonical(fullUrl: string): boolean {
		return this.#canonical.has(fullUrl);
	}

	/**
	 * Makes the relative references of an entry's resource absolute, by the root of its fullUrl; those below this service's own base only
	 * where
	 * they lead to an entry. In a transaction the ids of entries take their place later, as for every full URL. The entries of a batch do not
	 * depend on one another; there a reference leads to an entry that keeps its id. The resource is changed in place.
	 */
	relate(resource: Json | undefined, fullUrl: string | undefined): void {
		const given = asObject(resource);
		if (!this.#someRestful || given === undefined) return;
		const root = fullUrl === undefined ? undefined : rootOf(fullUrl);
		const found = (text: string) => this.#leadingTo(text, root);
		visitTexts(given, (text, holder, key, steps) => {
			if (isReference(holder, key)) replace(holder, key, found(text));
			else if (root === undefined || (key !== 'div' && !isRelative.test(text))) return;
			else if (key === 'div') {
				if (mayHaveLinks(text))
					replace(
						holder,
						key,
						relinked(text, (url) => (isRelative.test(url) ? found(url) : undefined)),
					);
				// Attachment.url is read as a reference is; a relative URL of another element has no such meaning.
			} else if (primitiveTypeAt(asText(given['resourceType']) ?? '', given, [...steps, key]) === 'url') replace(holder, key, found(text));
		});
	}

	/** Returns what a reference means in this Bundle; undefined for one that stays as it is. */
	#leadingTo(text: string, root: string | undefined): string | undefined {
		const [, unversioned = '', type = '', version] = versioned.exec(text) ?? [];
		if (!resourceTypes.has(type)) return undefined;
		const relative = isRelative.test(text);
		if (relative && root === undefined) return undefined;
		const fullUrl = relative ? `${root}/${unversioned}` : unversioned;
		const entry = this.#named.get(fullUrl);
		if (entry !== undefined && (version === undefined || version === entry.version)) {
			return this.#isTransaction ? fullUrl : (entry.kept ?? this.#elsewhere(text, relative, root));
		}
		return this.#elsewhere(text, relative, root);
	}

	/** A reference that leads to no entry keeps its server. */
	#elsewhere(text: string, relative: boolean, root: string | undefined): string | undefined {
		return relative && root?.toLowerCase() !== this.#base ? `${root}/${text}` : undefined;
	}
}

function replace(holder: JsonObject | Json[], key: string | number, text: string | undefined): void {
	if (text !== undefined) replaceText(holder, key, text);
}
