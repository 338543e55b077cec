type Parameters = readonly (readonly [string, string])[];

/** Builds a URL of this service with its parameters encoded. */
export function linkTo(path: string, parameters: Parameters): string {
	const query = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
	return query === '' ? path : `${path}?${query}`;
}
