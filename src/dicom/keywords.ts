import { standardVrOf } from './dictionary.ts';
import { standardKeywords } from './standard-keywords.ts';
import { tagKey } from './tag-key.ts';

const byTag: ReadonlyMap<string, string> = new Map(
	standardKeywords.flatMap((line) => line.split(' ').map((entry): [string, string] => [entry.slice(0, 8), entry.slice(8)])),
);
const keywords: ReadonlySet<string> = new Set(byTag.values());
const tagPattern = /^[0-9A-Fa-f]{8}$/;

/** Elements of PS3.6 whose VR is UN, so that the dictionary of VRs does not tell them from unknown ones. */
const ofUnknownVr: ReadonlySet<number> = new Set([0x0072_006d]);

/** A tag of PS3.6, or one of a private group. */
function isAttributeTag(tag: number): boolean {
	return Math.floor(tag / 0x1_00_00) % 2 === 1 || ofUnknownVr.has(tag) || standardVrOf(tag) !== 'UN';
}

/** Tells whether DICOM has such an attribute: a keyword or a tag of PS3.6, or a private tag; or several joined by dots that lead into sequences. */
export function namesAttribute(text: string): boolean {
	return text.split('.').every((part) => (tagPattern.test(part) ? isAttributeTag(Number.parseInt(part, 16)) : keywords.has(part)));
}

/** The keyword of an element; empty for a private one and one that DICOM does not know. */
export function keywordOf(tag: number): string {
	const group = Math.floor(tag / 0x1_00_00);
	// Curves and overlays repeat over even groups (PS3.5 §7.6).
	const isRepeating = (group & 1) === 0 && ((group & 0xff_00) === 0x50_00 || (group & 0xff_00) === 0x60_00);
	const known = isRepeating ? tag - (group & 0xff) * 0x1_00_00 : tag;
	return byTag.get(tagKey(known)) ?? '';
}
