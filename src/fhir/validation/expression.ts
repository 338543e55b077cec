const elementName = /^_?[A-Za-z][A-Za-z0-9]{0,63}$/;

/**
 * A path as FHIRPath writes it: `Patient.name[0].given[1]`. Names that a sender made up may be anything: at the first one that
 * could not be an element's, the path is cut. `type` is one of R4.
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
