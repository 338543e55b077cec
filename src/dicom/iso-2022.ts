import { type CodeExtensions, decodeIso2022 as decode } from '#core/iso-2022.ts';

/** Character sets that value 1 of Specific Character Set puts in force, by the number of their registration. */
const initial: Readonly<Record<number, { g0?: string; g1?: string }>> = {
	6: {},
	13: { g0: '(J', g1: ')I' },
	58: { g1: '$)A' },
	87: { g0: '$B' },
	100: { g1: '-A' },
	101: { g1: '-B' },
	109: { g1: '-C' },
	110: { g1: '-D' },
	126: { g1: '-F' },
	127: { g1: '-G' },
	138: { g1: '-H' },
	144: { g1: '-L' },
	148: { g1: '-M' },
	149: { g1: '$)C' },
	159: { g0: '$(D' },
	166: { g1: '-T' },
	203: { g1: '-b' },
};

/** TAB, LF, FF, CR, `=`, `\\`, `^`. */
const resetBehind: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x3d, 0x5c, 0x5e]);

export function isRegistered(registration: number): boolean {
	return initial[registration] !== undefined;
}

/** Decodes a value of DICOM; what cannot be read becomes U+FFFD. */
export function decodeIso2022(bytes: Buffer, registration: number): string {
	const extensions: CodeExtensions = { ...initial[registration], resetBehind };
	return decode(bytes, extensions);
}
