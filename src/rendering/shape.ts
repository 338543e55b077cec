import type { Attributes } from './attributes.ts';
import { NoPicture } from './picture.ts';

/** The Image Pixel module (PS3.3 §C.7.6.3) as far as it says how samples are stored. */
export interface PixelShape {
	rows: number;
	columns: number;
	samples: number;
	photometric: string;
	isPlanar: boolean;
	bitsAllocated: number;
	bitsStored: number;
	highBit: number;
	isSigned: boolean;
}

/** @throws NoPicture when an element is missing or has a value that is not shown */
export function pixelShapeOf(attributes: Attributes): PixelShape {
	const need = (tag: number, name: string): number => {
		const value = attributes.word(tag);
		if (value === undefined) throw new NoPicture(`the instance states no ${name}, so it has no picture`);
		return value;
	};
	const rows = need(0x0028_0010, 'Rows');
	const columns = need(0x0028_0011, 'Columns');
	const bitsAllocated = need(0x0028_0100, 'Bits Allocated');
	const photometric = attributes.text(0x0028_0004);
	if (photometric === undefined) throw new NoPicture('the instance states no Photometric Interpretation');
	if (rows === 0 || columns === 0) throw new NoPicture('the image has no rows or no columns');
	if (![1, 8, 16, 32, 64].includes(bitsAllocated)) throw new NoPicture(`Bits Allocated ${bitsAllocated} is not shown`);
	const stored = attributes.word(0x0028_0101) ?? bitsAllocated;
	const bitsStored = stored >= 1 && stored <= bitsAllocated ? stored : bitsAllocated;
	const high = attributes.word(0x0028_0102) ?? bitsStored - 1;
	return {
		rows,
		columns,
		samples: attributes.word(0x0028_0002) ?? 1,
		photometric,
		isPlanar: attributes.word(0x0028_0006) === 1,
		bitsAllocated,
		bitsStored,
		highBit: high >= bitsStored - 1 && high < bitsAllocated ? high : bitsStored - 1,
		isSigned: attributes.word(0x0028_0103) === 1,
	};
}
