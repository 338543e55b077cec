import { createHash } from 'node:crypto';
import type { JsonObject } from '#core/json.ts';
import { statedKeys } from '#fhir/identity.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import type { DocumentEntry, DocumentStudies, EntryReference, EntryType } from '#record/document.ts';

/** A resource that an entry of the document becomes, before it is known what else the document holds. */
export interface Draft {
	resourceType: EntryType;
	/** `root^extension` of the first id of the entry; undefined without one. */
	id: string | undefined;
	/** The key of its section. */
	place: string;
	resource: JsonObject;
	/** Drafts that must come before this one, by element. */
	refers?: Readonly<Record<string, readonly Draft[]>>;
	/** See DocumentEntry. */
	studies?: DocumentStudies;
}

/**
 * Drafts with the items that they are recognised by. The same id with the same content is the same thing said twice. An id
 * that stands for several things does not recognise them: their code, their place and their content are told with it, as far
 * as it takes. What has no id is recognised by place and content, and the second of the same by its number.
 */
export function entriesOf(drafts: readonly Draft[]): DocumentEntry[] {
	const contents = new Contents();
	const items = new Map<Draft, Items>();
	/** For each draft with an id, the first draft with the same id and content. */
	const same = new Map<string, Draft>();
	const kept = new Set<Draft>();
	for (const group of groupedBy(
		drafts,
		({ resourceType, id, place }) => `${resourceType} ${id === undefined ? 'place' : 'id'} ${id ?? place}`,
	)) {
		const isSingle = group.length === 1 || group[0]?.id === undefined;
		const distinct = isSingle ? group : group.filter((draft) => isFirst(draft, contents, same));
		keyed(distinct, contents, items);
		for (const draft of distinct) kept.add(draft);
	}
	const itemsOf = (draft: Draft): Items => items.get(draft) ?? items.get(same.get(contents.keyOf(draft)) as Draft) ?? { item: '' };
	return drafts.filter((draft) => kept.has(draft)).map((draft) => entryOf(draft, itemsOf));
}

function isFirst(draft: Draft, contents: Contents, same: Map<string, Draft>): boolean {
	const key = contents.keyOf(draft);
	if (same.has(key)) return false;
	same.set(key, draft);
	return true;
}

function entryOf(draft: Draft, itemsOf: (draft: Draft) => Items): DocumentEntry {
	const { resourceType, resource, refers, studies } = draft;
	const keys = statedKeys(definitionOf(resourceType)?.identity ?? {}, resource);
	const entry: DocumentEntry = {
		resourceType,
		...itemsOf(draft),
		resource,
		...(keys === undefined ? {} : { keys }),
		...(studies === undefined ? {} : { studies }),
	};
	if (refers === undefined) return entry;
	const references = Object.entries(refers).map(([element, list]): [string, EntryReference[]] => {
		const named = list.map((one): [string, EntryReference] => {
			const reference = { resourceType: one.resourceType, item: itemsOf(one).item };
			return [`${reference.resourceType} ${reference.item}`, reference];
		});
		return [element, [...new Map(named).values()]];
	});
	return { ...entry, refers: Object.fromEntries(references) };
}

/** Code and place: content is told only where a document needs it, because it changes. */
const exactlyTold = 2;

type Items = Pick<DocumentEntry, 'item' | 'otherItems'>;

/** Gives each draft of one id, or of one place without ids, its items. */
function keyed(group: readonly Draft[], contents: Contents, items: Map<Draft, Items>): void {
	const [first] = group;
	if (first === undefined) return;
	if (first.id === undefined) {
		for (const alike of groupedBy(group, (draft) => contents.of(draft))) {
			for (const [index, draft] of alike.entries()) {
				items.set(draft, { item: digest([draft.resourceType, 'place', draft.place, contents.of(draft), String(index)]) });
			}
		}
		return;
	}
	const { resourceType, id } = first;
	const narrower: ((draft: Draft) => string)[] = [
		({ resource }) => JSON.stringify(resource['code'] ?? null),
		({ place }) => place,
		(draft) => contents.of(draft),
	];
	/** The keys of code and place, too, since a document in which the id stands for more things or fewer has those. */
	const itemsFrom = (draft: Draft, told: readonly string[]): Items => {
		const whole = [...told, ...narrower.slice(told.length, exactlyTold).map((tell) => tell(draft))];
		const keys = [[], ...whole].map((_, length) => digest([resourceType, 'id', id ?? '', ...whole.slice(0, length)]));
		const exact = keys.slice(told.length + 1).toReversed();
		return { item: keys[told.length] as string, otherItems: { exact, general: keys.slice(0, told.length).toReversed() } };
	};
	const divide = (drafts: readonly Draft[], told: readonly string[]): void => {
		const tell = narrower[told.length];
		if (drafts.length === 1 || tell === undefined) for (const draft of drafts) items.set(draft, itemsFrom(draft, told));
		else for (const part of groupedBy(drafts, tell)) divide(part, [...told, tell(part[0] as Draft)]);
	};
	divide(group, []);
}

function groupedBy(drafts: readonly Draft[], keyOf: (draft: Draft) => string): Draft[][] {
	return [...Map.groupBy(drafts, keyOf).values()];
}

function digest(parts: readonly string[]): string {
	return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Digests of what drafts hold, of what they refer to as well; taken once, and only of those that are asked for. */
class Contents {
	readonly #digests = new Map<Draft, string>();

	of(draft: Draft): string {
		const known = this.#digests.get(draft);
		if (known !== undefined) return known;
		const referred = Object.entries(draft.refers ?? {}).flatMap(([element, list]) => [element, ...list.map((one) => this.of(one))]);
		const found = digest([JSON.stringify(draft.resource), ...referred]);
		this.#digests.set(draft, found);
		return found;
	}

	/** Equal for the same content under the same id. */
	keyOf(draft: Draft): string {
		return `${draft.resourceType} ${draft.id} ${this.of(draft)}`;
	}
}
