import type { JsonObject } from '#core/json.ts';
import { asObjects, asText } from '#fhir/elements.ts';
import { personName, referencedId } from '#fhir/summaries.ts';

export interface IdentityChange {
	title: string;
	detail: string;
	/** The other patient of a merge. */
	other: string | undefined;
}

const linkTitles: Readonly<Record<string, readonly [came: string, went: string]>> = {
	replaces: ['Another patient was merged into this one', 'A merge into this patient was undone'],
	'replaced-by': ['Merged into another patient', 'The merge into another patient was undone'],
};

/** Says in words what a version of a patient changed about who it is. @param before null for the first version */
export function identityChange(before: JsonObject | null, after: JsonObject): IdentityChange {
	if (before === null) return { title: 'First recorded', detail: personName(after['name']), other: undefined };
	const [then, now] = [linksOf(before), linksOf(after)];
	const came = now.find(({ key }) => !then.some((link) => link.key === key));
	const went = then.find(({ key }) => !now.some((link) => link.key === key));
	const link = came ?? went;
	const details = [...named(before, after), ...numbers(before, after)];
	if (link !== undefined) {
		const title = linkTitles[link.type]?.[came === undefined ? 1 : 0] ?? 'Linked to another patient';
		return { title, detail: details.join(' · '), other: link.other };
	}
	return { title: 'Identity changed', detail: details.join(' · '), other: undefined };
}

function linksOf(facts: JsonObject) {
	return asObjects(facts['link']).flatMap((link) => {
		const [type, other] = [asText(link['type']) ?? '', referencedId(link['other'], 'Patient')];
		return other === null ? [] : [{ type, other, key: `${type} ${other}` }];
	});
}

function named(before: JsonObject, after: JsonObject): string[] {
	const facts: readonly (readonly [string, (facts: JsonObject) => string])[] = [
		['name', (facts) => personName(facts['name'])],
		['birth date', (facts) => asText(facts['birthDate']) ?? ''],
		['gender', (facts) => asText(facts['gender']) ?? ''],
		['active', (facts) => (facts['active'] === false ? 'no' : 'yes')],
		['deceased', (facts) => String(facts['deceasedDateTime'] ?? facts['deceasedBoolean'] ?? 'no')],
	];
	return facts.flatMap(([name, of]) => (of(before) === of(after) ? [] : [`${name}: ${of(before) || 'none'} → ${of(after) || 'none'}`]));
}

function numbers(before: JsonObject, after: JsonObject): string[] {
	const valuesOf = (facts: JsonObject) =>
		asObjects(facts['identifier']).map(
			(identifier) => `${asText(identifier['value']) ?? ''}${identifier['use'] === 'old' ? ' (old)' : ''}`,
		);
	const [then, now] = [valuesOf(before), valuesOf(after)];
	const came = now.filter((value) => !then.includes(value));
	const went = then.filter((value) => !now.includes(value));
	return [
		...(came.length > 0 ? [`identifiers added: ${came.join(', ')}`] : []),
		...(went.length > 0 ? [`removed: ${went.join(', ')}`] : []),
	];
}
