import type { JsonObject } from '#core/json.ts';
import type { PersonOrPlaceChange } from '#record/kinds/person-or-place.ts';
import { type PersonOrPlaceType, referenceName } from '#record/person-or-place.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import type { HumanName, Reference } from '../datatypes.ts';

/** A practitioner, organization or location as one field names it. */
interface Mention {
	/** The reference in the content of the message. */
	reference: Reference;
	/** Without any it is not looked for. One without a system belongs to the default authority. */
	identifiers: readonly JsonObject[];
	/** The content of the resource, without identifiers. */
	resource: JsonObject;
	/** The field, or the path. */
	field: string;
}

/** The people and places that one message mentions, for a sender whose messages refer to resources. */
export class Mentions {
	readonly #authority: string | undefined;
	/** A resource that is not known is made, or not. */
	readonly unknown: PersonOrPlaceChange['unknown'];
	readonly #changes = new Map<string, PersonOrPlaceChange>();
	/** The key of the change that each reference means, by its name; undefined for places that are displayed alike. */
	readonly #meaning = new Map<string, string | undefined>();

	constructor(authority: string | undefined, unknown: PersonOrPlaceChange['unknown']) {
		this.#authority = authority;
		this.unknown = unknown;
	}

	/** Notes a mention. Fields that name the same person or place are one mention, with what the fullest of them says. */
	add(mention: Mention): void {
		const { reference, resource, field } = mention;
		const [first, ...others] = mention.identifiers.flatMap((identifier) => this.#identified(identifier) ?? []);
		const name = referenceName(reference);
		if (name === undefined || first === undefined) return;
		const resourceType = reference.type as PersonOrPlaceType;
		const key = `${resourceType} ${String(first['system'] ?? '').length} ${first['system'] ?? ''}${first.value}`;
		this.#meaning.set(name, this.#meaning.has(name) && this.#meaning.get(name) !== key ? undefined : key);
		const held = this.#changes.get(key);
		this.#changes.set(key, {
			kind: 'person-or-place',
			resourceType,
			identifiers: held === undefined || held.identifiers.length <= others.length ? [first, ...others] : held.identifiers,
			named: [...new Set([...(held?.named ?? []), name])],
			resource: held === undefined ? resource : fuller(held.resource, resource),
			unknown: this.unknown,
			field: held?.field ?? field,
		});
	}

	/** Returns them in the order in which they were mentioned. A place stands behind the one of which it is a part. */
	changes(): PersonOrPlaceChange[] {
		return [...this.#changes].map(([key, change]) => {
			return { ...change, named: change.named.filter((name) => this.#meaning.get(name) === key) };
		});
	}

	#identified({ system, value, assigner: _assigner, ...identifier }: JsonObject): Identifier | undefined {
		if (typeof value !== 'string' || value === '') return undefined;
		const named = system ?? this.#authority;
		return { ...identifier, ...(named === undefined ? {} : { system: named }), value };
	}
}

/** Returns what collects the mentions of a message; undefined for a sender whose references are for display. */
export function mentionsOf(settings: Settings): Mentions | undefined {
	const value = settings.people_and_places;
	if (value === undefined || value === 'display') return undefined;
	return new Mentions(settings.default_authority, settingOf(settings, 'people_and_places') === 'known' ? 'ignore' : 'create');
}

function fuller(held: JsonObject, other: JsonObject): JsonObject {
	const [more, less] = JSON.stringify(other).length > JSON.stringify(held).length ? [other, held] : [held, other];
	return { ...less, ...more };
}

/** The content of a Practitioner. */
export function practitionerOf(name: HumanName | undefined): JsonObject {
	return name === undefined ? {} : { name: [name] };
}

/** The content of an Organization. */
export function organizationOf(name: string): JsonObject {
	return name === '' ? {} : { name };
}
