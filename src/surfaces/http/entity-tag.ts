/** Tells whether a list of entity tags has this one, or stands for any (RFC 9110 §13.1.2). Compares weakly. */
export function namesTag(header: string, tag: string): boolean {
	return header.split(',').some((given) => {
		const name = given.trim().replace(/^W\//, '');
		return name === '*' || name === tag;
	});
}
