import { type Attributes, sequences } from './attributes.ts';
import { type Window, type WindowFunction, windowFunctions } from './picture.ts';
import type { StoredValues } from './samples.ts';

const tags = { center: 0x0028_1050, width: 0x0028_1051, shape: 0x0028_1056 } as const;

/** Returns the first window that the attributes state (PS3.3 §C.11.2.1.2); one whose width it may not have is none. */
export function statedWindow(attributes: Attributes | undefined): Window | undefined {
	const center = attributes?.numbers(tags.center)?.[0];
	const width = attributes?.numbers(tags.width)?.[0];
	if (center === undefined || width === undefined) return undefined;
	const shape = shapeOf(attributes?.text(tags.shape));
	return width >= (shape === 'linear' ? 1 : Number.MIN_VALUE) ? { center, width, shape } : undefined;
}

function shapeOf(text: string | undefined): WindowFunction {
	const name = text?.split('\\')[0]?.trim().toLowerCase().replace('_', '-');
	return windowFunctions.find((known) => known === name) ?? 'linear';
}

/** The items that may state something of a frame, those that speak of it alone first (PS3.3 §C.7.6.16). */
export function groupsOf(attributes: Attributes, group: number): (Attributes | undefined)[] {
	const { perFrameFunctionalGroups, sharedFunctionalGroups } = sequences;
	return [attributes.item(perFrameFunctionalGroups)?.item(group), attributes.item(sharedFunctionalGroups)?.item(group), attributes];
}

/** Returns a window from the smallest to the largest of the values, without those that only pad the image. */
export function windowOfValues(values: StoredValues, toValue: (stored: number) => number, padding: Padding): Window {
	let least = Number.POSITIVE_INFINITY;
	let most = Number.NEGATIVE_INFINITY;
	for (let index = 0; index < values.length; index++) {
		const stored = values[index] ?? 0;
		if (stored >= padding.from && stored <= padding.to) continue;
		const value = toValue(stored);
		// This also passes over what is no number.
		if (value < least) least = value;
		if (value > most) most = value;
	}
	if (!(most > least)) return { center: Number.isFinite(least) ? least : 0, width: 1, shape: 'linear-exact' };
	return { center: (least + most) / 2, width: most - least, shape: 'linear-exact' };
}

/** Stored values from one to the other, both included, that stand for no measurement (PS3.3 §C.7.5.1.1.2). */
export interface Padding {
	from: number;
	to: number;
}

export function paddingOf(attributes: Attributes, isSigned: boolean): Padding {
	const [value] = attributes.words(0x0028_0120, isSigned);
	const [limit = value] = attributes.words(0x0028_0121, isSigned);
	if (value === undefined || limit === undefined) return { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
	return { from: Math.min(value, limit), to: Math.max(value, limit) };
}

/** Returns the grey from 0 to 1 that a window gives a value. */
export function greyOf({ center, width, shape }: Window): (value: number) => number {
	if (shape === 'sigmoid') return (value) => 1 / (1 + Math.exp((-4 * (value - center)) / width));
	if (shape === 'linear-exact') return (value) => clamped((value - center) / width + 0.5);
	// With a width of 1 this is a step (PS3.3 §C.11.2.1.2.1).
	if (width <= 1) return (value) => (value > center - 0.5 ? 1 : 0);
	return (value) => clamped((value - (center - 0.5)) / (width - 1) + 0.5);
}

function clamped(grey: number): number {
	return grey > 0 ? Math.min(1, grey) : 0;
}
