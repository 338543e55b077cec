import type { Json, JsonObject } from '#core/json.ts';

/** The facts by which two statements about a person are compared. */
export type ComparedFact = 'name' | 'birth date' | 'sex';

/**
 * Compares the person that a message states with the record of the patient whose number it has. It returns the facts that differ if they
 * are two or three of name, birth date and sex; one alone is a marriage or a mistyped value. A fact that either side does not state is not
 * compared.
 * - Names differ when no name of one side has the words of a name of the other. Case, accents, order and punctuation do not count; a letter
 *   stands for a word that begins with it; words that are missing do not count. Names in different scripts are not compared.
 * - Birth dates differ within the precision that both have.
 * - Sex differs between male and female only.
 */
export function mismatch(held: JsonObject, stated: Readonly<Record<string, Json>>): ComparedFact[] {
	const different: ComparedFact[] = [];
	if (haveOtherDate(held['birthDate'], stated['birthDate'])) different.push('birth date');
	if (haveOtherSex(held['gender'], stated['gender'])) different.push('sex');
	if (different.length > 0 && isOtherName(held['name'], stated['name'])) different.unshift('name');
	return different.length > 1 ? different : [];
}

/** How two statements about a person compare: `partly` within what both say, `unknown` where one says nothing. */
export type Agreement = 'same' | 'partly' | 'unknown' | 'other';

/** Compares each fact by itself, by the rules of `mismatch`. */
export function agreements(held: JsonObject, stated: JsonObject): Readonly<Record<ComparedFact, Agreement>> {
	return {
		name: nameAgreement(held['name'], stated['name']),
		'birth date': dateAgreement(held['birthDate'], stated['birthDate']),
		sex: sexAgreement(held['gender'], stated['gender']),
	};
}

function nameAgreement(held: Json | undefined, stated: Json | undefined): Agreement {
	const [left, right] = [namesOf(held), namesOf(stated)];
	if (left.length === 0 || right.length === 0) return 'unknown';
	const alike = left.flatMap((one) => right.filter((other) => isSameName(one, other)).map((other) => [one, other] as const));
	if (alike.length === 0) return 'other';
	// One word, an initial, or a name in another script says little.
	return alike.some(([one, other]) => wordsInBoth(one, other) >= 2) ? 'same' : 'partly';
}

function wordsInBoth(one: readonly string[], other: readonly string[]): number {
	return one.filter((word) => word.length > 1 && other.some((another) => another.length > 1 && isSameWord(word, another))).length;
}

function dateAgreement(held: Json | undefined, stated: Json | undefined): Agreement {
	if (typeof held !== 'string' || typeof stated !== 'string') return 'unknown';
	if (haveOtherDate(held, stated)) return 'other';
	return held === stated && held.length === 10 ? 'same' : 'partly';
}

function sexAgreement(held: Json | undefined, stated: Json | undefined): Agreement {
	if (haveOtherSex(held, stated)) return 'other';
	return typeof held === 'string' && held === stated && held !== 'unknown' ? 'same' : 'unknown';
}

/**
 * Tells without parsing whether the text of a resource states this birth date and sex. Then at most the name differs, which most messages
 * about a known patient show at once.
 */
export function surelyMatches(text: string, stated: Readonly<Record<string, Json>>): boolean {
	const { birthDate, gender } = stated;
	const hasDate = typeof birthDate !== 'string' || text.includes(`"birthDate":"${birthDate}"`);
	const hasSex = (gender !== 'male' && gender !== 'female') || text.includes(`"gender":"${gender}"`);
	return hasDate && hasSex;
}

function haveOtherDate(held: Json | undefined, stated: Json | undefined): boolean {
	if (typeof held !== 'string' || typeof stated !== 'string') return false;
	const length = Math.min(held.length, stated.length);
	return held.slice(0, length) !== stated.slice(0, length);
}

function haveOtherSex(held: Json | undefined, stated: Json | undefined): boolean {
	return (held === 'male' && stated === 'female') || (held === 'female' && stated === 'male');
}

export function isOtherName(held: Json | undefined, stated: Json | undefined): boolean {
	const [left, right] = [namesOf(held), namesOf(stated)];
	if (left.length === 0 || right.length === 0) return false;
	return !left.some((one) => right.some((other) => isSameName(one, other)));
}

/** Returns the words of each name. */
function namesOf(names: Json | undefined): string[][] {
	if (!Array.isArray(names)) return [];
	return names.map(wordsOf).filter((words) => words.length > 0);
}

function wordsOf(name: Json): string[] {
	if (name === null || typeof name !== 'object' || Array.isArray(name)) return [];
	const given = Array.isArray(name['given']) ? name['given'] : [];
	const parts = [name['family'], ...given].filter((part) => typeof part === 'string');
	const text = parts.length > 0 ? parts.join(' ') : typeof name['text'] === 'string' ? name['text'] : '';
	return folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Letters that no decomposition reduces to plain ones, as people write them on other keyboards. */
const plainLetters: Readonly<Record<string, string>> = { ß: 'ss', ø: 'o', æ: 'ae', œ: 'oe', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' };

function folded(text: string): string {
	return text
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.toLowerCase()
		.replace(/[ßøæœłđðþı]/g, (letter) => plainLetters[letter] ?? letter)
		.replace(/['’.]/g, '');
}

const latin = /\p{Script=Latin}/u;

function isSameName(one: readonly string[], other: readonly string[]): boolean {
	if (one.some((word) => latin.test(word)) !== other.some((word) => latin.test(word))) return true;
	const [fewer, more] = one.length <= other.length ? [one, other] : [other, one];
	const left = [...more];
	for (const word of fewer) {
		const index = left.findIndex((candidate) => isSameWord(word, candidate));
		if (index < 0) return false;
		left.splice(index, 1);
	}
	return true;
}

/** German writes ü as ue too. */
function isSameWord(word: string, other: string): boolean {
	if (word === other || umlautFree(word) === umlautFree(other)) return true;
	return (word.length === 1 && other.startsWith(word)) || (other.length === 1 && word.startsWith(other));
}

function umlautFree(word: string): string {
	return word.replace(/([aou])e/g, '$1');
}
