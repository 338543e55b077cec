/** SQL that tells whether a text is kept compact (record/compact-text). */
const isCompact = (column: string) => `substr(${column}, 1, 1) = '%'`;

/**
 * SQL of the whole text of a resource. Texts that messages wrote may be kept compact (record/compact-text); those begin with `%`, all others are
 * taken as they are without a call.
 */
export function wholeText(column: string): string {
	return `case when ${isCompact(column)} then tributary_whole_text(${column}) else ${column} end`;
}

/** SQL of the same text, or of null if it has more bytes. */
export function shortText(column: string, bytes: string): string {
	const within = (text: string) => `case when octet_length(${text}) <= ${bytes} then ${text} end`;
	const whole = `(select ${within('w.whole')} from (select tributary_whole_text(${column}) as whole offset 0) w)`;
	return `case when ${isCompact(column)} then ${whole} else ${within(column)} end`;
}

/** SQL of the text of a resource as JSON. */
export function jsonOf(column: string): string {
	return `tributary_json(${column})`;
}
