/**
 * Folds text for the comparison of names: canonical composition, without case. Upper case comes first, so that ß equals ss and ı equals i;
 * a
 * final sigma is a sigma.
 */
export function folded(text: string): string {
	return text.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
