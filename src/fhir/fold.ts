/**
 * Text as names are compared: canonical composition, without case. Upper case first, so that ß meets ss and ı meets i;
 * a final sigma is a sigma.
 */
export function folded(text: string): string {
	return text.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
