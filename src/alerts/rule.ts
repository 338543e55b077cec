/** An alert in the form that Prometheus uses. */
export interface Rule {
	name: string;
	severity: Severity;
	/** The expression must hold this long before the alert fires. */
	for: `${number}${'s' | 'm' | 'h'}`;
	/** A PromQL expression. Rules that a node judges use only the part that `expression.ts` understands. */
	text: string;
	/** The summary, with `{{ $labels.site }}` in place of a label. */
	summary: string;
	/** The phrases in which the summary says the values of a label. */
	words?: Readonly<Record<string, Readonly<Record<string, string>>>>;
	/** Explains the alert to the people who run the node. */
	description: string;
	/** The remedy, in Markdown. docs/operations.md and the console show it. */
	runbook: string;
	/** The address in the console of the rows that the alert speaks of, with labels as in the summary. Absent if there are none. */
	list?: `/${string}`;
	/** Only Prometheus can judge this rule: a node cannot tell that it is down, and it remembers no more than an hour. */
	beyondNode?: true;
}

export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

export interface RuleGroup {
	name: string;
	rules: readonly Rule[];
}
