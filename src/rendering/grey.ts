import { type Attributes, sequences } from './attributes.ts';
import { type LookupTable, lookUp, lookupTable, tableItem } from './lookup-table.ts';
import type { Window } from './picture.ts';
import type { StoredValues } from './samples.ts';
import type { PixelShape } from './shape.ts';
import { greyOf, groupsOf, paddingOf, statedWindow, windowOfValues } from './window.ts';

const tags = { slope: 0x0028_1053, intercept: 0x0028_1052, presentationLutShape: 0x2050_0020 } as const;

/** Turns stored values into grey: modality, values of interest, presentation (PS3.4 §N.2). */
export function greyPicture(values: StoredValues, shape: PixelShape, attributes: Attributes, asked: Window | undefined): Uint8Array {
	const toValue = modality(attributes, shape.isSigned);
	const toGrey = interest(attributes, { values, shape, toValue, asked });
	const isInverse = shape.photometric === 'MONOCHROME1' || attributes.text(tags.presentationLutShape) === 'INVERSE';
	const shown = (stored: number): number => {
		const grey = Math.round(toGrey(toValue(stored)) * 255);
		return isInverse ? 255 - grey : grey;
	};
	return mapped(values, shown);
}

/** Each stored value is computed once if fewer can occur than the image has pixels. */
function mapped(values: StoredValues, shown: (stored: number) => number): Uint8Array {
	const picture = new Uint8Array(values.length);
	if (values.BYTES_PER_ELEMENT > 2) {
		for (let index = 0; index < values.length; index++) picture[index] = shown(values[index] ?? 0);
		return picture;
	}
	const isSigned = values instanceof Int8Array || values instanceof Int16Array;
	const count = 1 << (8 * values.BYTES_PER_ELEMENT);
	const least = isSigned ? -count / 2 : 0;
	const table = new Uint8Array(count);
	if (count <= values.length) for (let index = 0; index < count; index++) table[index] = shown(least + index);
	for (let index = 0; index < values.length; index++) {
		const stored = values[index] ?? 0;
		picture[index] = count <= values.length ? (table[stored - least] ?? 0) : shown(stored);
	}
	return picture;
}

/** The modality LUT, or the rescale of the frame (PS3.3 §C.11.1). */
function modality(attributes: Attributes, isSigned: boolean): (stored: number) => number {
	const item = tableItem(attributes, sequences.modalityLut);
	if (item) {
		const table = lookupTable(item, isSigned);
		return lookUp(table, table.entries.length);
	}
	for (const group of groupsOf(attributes, sequences.pixelValueTransformation)) {
		const slope = group?.numbers(tags.slope)?.[0];
		const intercept = group?.numbers(tags.intercept)?.[0];
		if (slope !== undefined && intercept !== undefined && slope !== 0) return (stored) => stored * slope + intercept;
	}
	return (stored) => stored;
}

interface Interest {
	values: StoredValues;
	shape: PixelShape;
	toValue: (stored: number) => number;
	asked: Window | undefined;
}

/**
 * Returns the grey of a value (PS3.3 §C.11.2): by the window that was asked for, else by the first that the image states, else by its first VOI LUT.
 * If it states none, images of up to 8 bits are shown as they are, and others from their smallest to their largest value.
 */
function interest(attributes: Attributes, { values, shape, toValue, asked }: Interest): (value: number) => number {
	if (asked) return greyOf(asked);
	const groups = groupsOf(attributes, sequences.frameVoiLut);
	for (const group of groups) {
		const window = statedWindow(group);
		if (window) return greyOf(window);
	}
	const table =
		tableItem(attributes, sequences.voiLut) ??
		groups.map((group) => group && tableItem(group, sequences.voiLut)).find((item) => item !== undefined);
	if (table) return greyOfTable(lookupTable(table, hasNegative(shape, toValue)));
	const isPlain = shape.bitsStored <= 8 && !shape.isSigned && toValue(0) === 0 && toValue(1) === 1;
	if (isPlain) return (value) => value / (2 ** shape.bitsStored - 1);
	return greyOf(windowOfValues(values, toValue, paddingOf(attributes, shape.isSigned)));
}

/** Tells whether values below 0 can come to a VOI LUT; only then is its first input signed (PS3.3 §C.11.2.1.1). */
function hasNegative({ bitsStored, isSigned }: PixelShape, toValue: (stored: number) => number): boolean {
	const half = 2 ** (bitsStored - 1);
	const ends = isSigned ? [-half, half - 1] : [0, 2 * half - 1];
	return ends.some((stored) => toValue(stored) < 0);
}

function greyOfTable(table: LookupTable): (value: number) => number {
	const entryOf = lookUp(table, table.entries.length);
	const most = 2 ** table.bits - 1;
	return (value) => Math.min(1, entryOf(value) / most);
}
