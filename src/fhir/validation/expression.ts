const elementName = /^_?[A-Za-z][A-Za-z0-9]{0,63}$/;

/**
 * Writes a path as FHIRPath: `Patient.name[0].given[1]`. The sender's member names may be any text, so the path is cut at the first one
 * that
 * cannot be an element's name. `type` is a type of R4.
 */
export function pathOf(type: string, path: readonly PropertyKey[]): string {
	let expression = type;
	for (const step of path) {
		if (typeof step === 'number') expression += `[${step}]`;
		else if (typeof step === 'string' && elementName.test(step)) expression += `.${step}`;
		else break;
	}
	return expression;
}
