/** Decides which SOP classes are stored (PS3.4 annex B, PS3.6 table A-1). */

const standardRoot = '1.2.840.10008.';
const storageRoot = '1.2.840.10008.5.1.4.1.1.';

/** Classes beneath the root of the storage classes that store nothing: queries, retrievals, management of protocols and inventories. */
const noStorage = new Set(['200.4', '200.5', '200.6', '201.2', '201.3', '201.4', '201.5', '201.6'].map((rest) => storageRoot + rest));

/** Storage classes that have another root in DICOM: RT Beams Delivery Instruction (also its trial version), Hardcopy (retired). */
const elsewhere = new Set([
	'1.2.840.10008.5.1.1.29',
	'1.2.840.10008.5.1.1.30',
	'1.2.840.10008.5.1.4.34.1',
	'1.2.840.10008.5.1.4.34.7',
	'1.2.840.10008.5.1.4.34.10',
]);

/** Tells whether a class is private, that is, not defined by DICOM. */
export function isPrivateClass(sopClassUid: string): boolean {
	return !sopClassUid.startsWith(standardRoot);
}

/** Recognises newer classes of the standard by their root. */
export function isStorageClass(sopClassUid: string): boolean {
	return (sopClassUid.startsWith(storageRoot) && !noStorage.has(sopClassUid)) || elsewhere.has(sopClassUid);
}
