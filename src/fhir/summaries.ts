import { isRawJson, type Json, type JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText, asTexts } from './elements.ts';

/** Renders elements of a resource for people. A missing value is an empty text. */
export function conceptText(value: Json | undefined): string {
	const concept = asObject(value);
	const coding = asObjects(concept?.['coding']);
	const display = coding.map((item) => asText(item['display'])).find((text) => text !== undefined);
	return asText(concept?.['text']) ?? display ?? asText(coding[0]?.['code']) ?? '';
}

export function conceptCode(value: Json | undefined): string {
	const [coding] = asObjects(asObject(value)?.['coding']);
	return asText(coding?.['code']) ?? '';
}

/** Renders `DOE, Jane Ann`, from the first name that is in use. */
export function personName(value: Json | undefined): string {
	const names = asObjects(value);
	const name = names.find((item) => item['use'] !== 'old') ?? names[0];
	if (name === undefined) return '';
	const parts = [asText(name['family']) ?? '', asTexts(name['given']).join(' ')].filter((part) => part !== '');
	return parts.length > 0 ? parts.join(', ') : (asText(name['text']) ?? '');
}

export function quantityText(value: Json | undefined): string {
	const quantity = asObject(value);
	if (quantity === undefined) return '';
	const unit = asText(quantity['unit']) ?? asText(quantity['code']);
	return [`${asText(quantity['comparator']) ?? ''}${digits(quantity['value'])}`, unit ?? ''].filter((part) => part !== '').join(' ');
}

/** Returns a decimal with its original digits. */
function digits(value: Json | undefined): string {
	return typeof value === 'number' || isRawJson(value) ? JSON.stringify(value) : '';
}

export function periodText(value: Json | undefined): string {
	const period = asObject(value);
	return [asText(period?.['start']) ?? '', asText(period?.['end']) ?? ''].filter((part) => part !== '').join(' – ');
}

/** The value[x] of an observation or of one of its components. */
export function observedText(resource: JsonObject): string {
	const [name, value] = Object.entries(resource).find(([member]) => /^value[A-Z]/.test(member)) ?? [];
	switch (name) {
		case undefined:
			return conceptText(resource['dataAbsentReason']);
		case 'valueQuantity':
			return quantityText(value);
		case 'valueCodeableConcept':
			return conceptText(value);
		case 'valueRange':
			return [quantityText(asObject(value)?.['low']), quantityText(asObject(value)?.['high'])].join(' – ');
		case 'valueRatio':
			return [quantityText(asObject(value)?.['numerator']), quantityText(asObject(value)?.['denominator'])].join(' / ');
		case 'valuePeriod':
			return periodText(value);
		default:
			return typeof value === 'object' ? '' : String(value);
	}
}

export function rangeText(resource: JsonObject): string {
	const [range] = asObjects(resource['referenceRange']);
	if (range === undefined) return '';
	const [low, high] = [quantityText(range['low']), quantityText(range['high'])];
	return asText(range['text']) ?? [low, high].filter((part) => part !== '').join(' – ');
}

/** Returns `when[x]`, or its start if it is a period. */
export function momentOf(resource: JsonObject, ...names: string[]): string | null {
	for (const name of names) {
		for (const form of ['DateTime', 'Date', 'Instant', '']) {
			const text = asText(resource[name + form]);
			if (text !== undefined) return text;
		}
		const start = asText(asObject(resource[`${name}Period`] ?? resource[name])?.['start']);
		if (start !== undefined) return start;
	}
	return null;
}

/** Returns the text of a reference, else its target. */
export function referenceText(value: Json | undefined): string {
	const reference = asObject(value);
	return asText(reference?.['display']) ?? asText(reference?.['reference']) ?? '';
}

/** `Patient/1` → `1`. */
export function referencedId(value: Json | undefined, type: string): string | null {
	const text = asText(asObject(value)?.['reference']);
	return text?.startsWith(`${type}/`) === true ? text.slice(type.length + 1) : null;
}
