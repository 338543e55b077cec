/** The rows and columns of a slice. */
export const phantomSide = 128;
/** A stored value is the one in HU plus this. */
export const phantomOffset = 1024;

/** The digits, three pixels wide and five high, row by row from the top; the leftmost pixel is the highest bit. */
const digits = ['75557', '26227', '71747', '71717', '55711', '74717', '74757', '71111', '75757', '75717'];
/** The side of one pixel of a digit. */
const dot = 3;

interface Ellipse {
	/** The middle and the half axes, in pixels. */
	x: number;
	y: number;
	across: number;
	down: number;
	/** The value, in HU. */
	value: number;
}

/**
 * Draws a slice of an invented chest: the lungs grow from slice to slice, and a nodule lies in the middle of the stack. A ramp from −1000 to
 * 1000 HU lies below the chest, and the number of the slice stands in the corner.
 * @param number the number of the slice, from 1 on
 * @param of the number of slices
 * @returns 16 bits a pixel, unsigned, least significant byte first: HU + `phantomOffset`
 */
export function phantomSlice(number: number, of: number): Buffer {
	const depth = of <= 1 ? 0.5 : (number - 1) / (of - 1);
	const lungs = 10 + 8 * depth;
	const nodule = 5 * (1 - 2 * Math.abs(depth - 0.5));
	const parts: Ellipse[] = [
		{ x: 64, y: 56, across: 58, down: 42, value: -90 },
		{ x: 64, y: 56, across: 54, down: 38, value: 50 },
		{ x: 38, y: 52, across: lungs, down: 1.5 * lungs, value: -850 },
		{ x: 90, y: 52, across: lungs, down: 1.5 * lungs, value: -850 },
		{ x: 70, y: 46, across: 13, down: 15, value: 45 + 120 * depth },
		{ x: 64, y: 82, across: 9, down: 8, value: 600 },
		{ x: 64, y: 84, across: 3, down: 3, value: 20 },
		{ x: 36, y: 58, across: nodule, down: nodule, value: 30 },
	];
	const pixels = Buffer.alloc(2 * phantomSide * phantomSide);
	for (let y = 0; y < phantomSide; y++)
		for (let x = 0; x < phantomSide; x++) {
			const value = valueAt(x, y, parts);
			pixels.writeUInt16LE(Math.round(value) + phantomOffset, 2 * (y * phantomSide + x));
		}
	writeNumber(pixels, String(number));
	return pixels;
}

function valueAt(x: number, y: number, parts: readonly Ellipse[]): number {
	const ramp = y >= 108 && y < 120 && x >= 14 && x < 114;
	if (ramp) return -1000 + (2000 * (x - 14)) / 99;
	const part = parts.findLast((each) => each.across > 0 && ((x - each.x) / each.across) ** 2 + ((y - each.y) / each.down) ** 2 <= 1);
	return part?.value ?? -1000;
}

function writeNumber(pixels: Buffer, number: string): void {
	for (const [place, digit] of [...number].entries())
		for (const [row, bits] of [...(digits[Number(digit)] ?? '')].entries())
			for (let column = 0; column < 3; column++)
				if ((Number(bits) >> (2 - column)) & 1) fill(pixels, 4 + (4 * place + column) * dot, 4 + row * dot);
}

function fill(pixels: Buffer, left: number, top: number): void {
	for (let y = top; y < top + dot; y++)
		for (let x = left; x < left + dot; x++) pixels.writeUInt16LE(1000 + phantomOffset, 2 * (y * phantomSide + x));
}
