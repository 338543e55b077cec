import { fc } from '#test/support/fuzzing.ts';

export const systemOf = (number: string) => number.slice(0, number.lastIndexOf('|'));

/** Assigning authorities. Each has two names, which somebody states together at some time. */
export const authorities = [
	{ oid: '1.2.3.1', namespace: 'HOSP' },
	{ oid: '1.2.3.2', namespace: 'LAB' },
] as const;

const oidSystem = (oid: string) => `urn:oid:${oid}`;
const localSystem = (namespace: string) => `urn:id:${namespace}`;

/** A number of a made-up person: everybody has one of each authority. */
export function numberOf(person: number, authority: number): string {
	return `${oidSystem((authorities[authority % authorities.length] ?? authorities[0]).oid)}|N${person}`;
}

/** The number with one name of its authority or the other, as somebody states it. */
export function statedAs(number: string, form: number): string {
	if (form % 2 === 0) return known(number);
	const authority = authorities.find(({ oid }) => number.startsWith(`${oidSystem(oid)}|`));
	return authority === undefined ? number : number.replace(oidSystem(authority.oid), localSystem(authority.namespace));
}

/** The number without the name of its authority. */
export const unissued = (number: string) => number.slice(number.lastIndexOf('|'));

/** The number with one name of its authority, whichever it has. */
export function known(number: string): string {
	const authority = authorities.find(({ namespace }) => number.startsWith(`${localSystem(namespace)}|`));
	return authority === undefined ? number : number.replace(localSystem(authority.namespace), oidSystem(authority.oid));
}

/** Numbers of a person as a message states them: one of them, or both in either order. */
const statings: readonly (readonly number[])[] = [[0], [1], [0, 1], [1, 0]];

export function numbersOf({ person, stating }: { person: number; stating: number }): string[] {
	return (statings[stating % statings.length] ?? []).map((authority) => numberOf(person, authority));
}

/** What happens at a site, by all ways in which it may come. `person` and `other` count among the people; `pick` chooses what is there. */
export interface Step {
	way: (typeof ways)[number];
	person: number;
	other: number;
	stating: number;
	pick: number;
	/** The first number has no authority, where the format permits that. */
	unissued: boolean;
	/** The message has the name, birth date and sex of somebody else. */
	mistaken: boolean;
}

const ways = [
	...['v2 snapshot', 'v2 snapshot', 'v2 result', 'v2 result', 'v3', 'document', 'image', 'late image', 'late image'],
	...['study assigned', 'images moved', 'images split off', 'edit undone', 'image decided'],
	...['procedure step', 'fhir result', 'fhir result', 'fhir patient', 'import', 'merge', 'merge', 'merge of a person', 'unlink', 'unmerge'],
] as const;

/** A site and what happens there. */
export interface MadeUp {
	/** At which part of the course somebody states both names of each authority: 0 is at the start, 1 at the end. */
	taught: number[];
	settings: { mismatch: 'flag' | 'hold' | 'accept'; otherPatient: 'aside' | 'split' };
	steps: Step[];
}

export const madeUpOf = (people: number): fc.Arbitrary<MadeUp> => {
	const one = fc.nat(people - 1);
	const step = fc.record({
		way: fc.constantFrom(...ways),
		person: one,
		other: one,
		stating: fc.nat(statings.length - 1),
		pick: fc.nat(1_000_000),
		mistaken: fc.boolean(),
		unissued: fc.nat(9).map((tenth) => tenth === 0),
	});
	const settings = fc.record({
		mismatch: fc.constantFrom('flag', 'flag', 'hold', 'accept'),
		otherPatient: fc.constantFrom('aside', 'split'),
	});
	const taught = fc.tuple(...authorities.map(() => fc.constantFrom(0, 0, 0.2, 0.6, 1)));
	return fc.record({ settings, taught, steps: fc.array(step, { minLength: people * 5, maxLength: people * 7, size: 'max' }) });
};
