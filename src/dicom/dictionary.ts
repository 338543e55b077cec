import { standardVrs } from './standard-vrs.ts';

/** Value representations of PS3.6 §6 and §7, for data sets in implicit VR, which do not say them. */
const byTag = new Map<number, string>();
for (const line of standardVrs) {
	const group = Number.parseInt(line.slice(0, 4), 16);
	for (let at = 4; at < line.length; at += 6) {
		byTag.set(group * 0x1_00_00 + Number.parseInt(line.slice(at, at + 4), 16), line.slice(at + 4, at + 6));
	}
}

/** `UN` for private elements and those that are not known; `XS` for US or SS. */
export function standardVrOf(tag: number): string {
	const group = Math.floor(tag / 0x1_00_00);
	const element = tag & 0xff_ff;
	if (element === 0) return 'UL';
	if ((group & 1) === 1) return element >= 0x10 && element <= 0xff ? 'LO' : 'UN';
	// Curves and overlays repeat over even groups (PS3.5 §7.6).
	const isRepeating = (group & 0xff_00) === 0x50_00 || (group & 0xff_00) === 0x60_00;
	return byTag.get(isRepeating ? (group & 0xff_00) * 0x1_00_00 + element : tag) ?? 'UN';
}
