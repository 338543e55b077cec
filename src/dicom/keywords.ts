import { standardVrOf } from './dictionary.ts';
import { standardKeywords } from './standard-keywords.ts';

const keywords: ReadonlySet<string> = new Set(standardKeywords.flatMap((line) => line.split(' ')));
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
