/** Which SOP classes are stored (PS3.4 annex B, PS3.6 table A-1). */

const standardRoot = '1.2.840.10008.';
const storageRoot = '1.2.840.10008.5.1.4.1.1.';

/** Beneath the root of the storage classes, but a query, retrieval or management of protocols and inventories. */
const noStorage = new Set(['200.4', '200.5', '200.6', '201.2', '201.3', '201.4', '201.5', '201.6'].map((rest) => storageRoot + rest));

/** Instances of patients that DICOM put elsewhere: RT Beams Delivery Instruction (also as it was for trial use), Hardcopy (retired). */
const elsewhere = new Set([
	'1.2.840.10008.5.1.1.29',
	'1.2.840.10008.5.1.1.30',
	'1.2.840.10008.5.1.4.34.1',
	'1.2.840.10008.5.1.4.34.7',
	'1.2.840.10008.5.1.4.34.10',
]);

/** A class that is not of DICOM itself is one that its maker thought out. */
export function isPrivateClass(sopClassUid: string): boolean {
	return !sopClassUid.startsWith(standardRoot);
}

/** Newer classes of the standard are recognised by their root. */
export function isStorageClass(sopClassUid: string): boolean {
	return (sopClassUid.startsWith(storageRoot) && !noStorage.has(sopClassUid)) || elsewhere.has(sopClassUid);
}
