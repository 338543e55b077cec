import type { DataSetFault } from '#dicom/fault.ts';
import { pixelTags } from '#dicom/json-model.ts';
import { type ImageShape, type LocatedValue, ValueLocator, type ValuePath } from '#dicom/value-locator.ts';
import type { StoredDataSet } from './stored-data-set.ts';

/** An image has one of these elements: Pixel Data, Float Pixel Data, Double Float Pixel Data. */
export const pixelPaths: readonly ValuePath[] = pixelTags.map((tag) => [tag]);

/** The place of a value in a data set. */
export interface StoredValue {
	value: LocatedValue;
	shape: ImageShape;
	/** The one of the paths by which it was found. */
	path: ValuePath;
}

/**
 * Finds the first of these elements that the data set has; undefined where it has none of them.
 * @param bytesMax as for `ValueLocator`
 * @throws Failure as the object store does
 */
export async function firstValue(
	dataSet: StoredDataSet,
	paths: readonly ValuePath[],
	bytesMax: number,
): Promise<StoredValue | { fault: DataSetFault } | undefined> {
	for (const path of paths) {
		const locator = new ValueLocator(dataSet.instance.transferSyntaxUid, path, bytesMax);
		await dataSet.feed(locator);
		const result = locator.end();
		if ('fault' in result) return result;
		const { located, shape } = result;
		if (located) return { value: located, shape, path };
	}
	return undefined;
}
