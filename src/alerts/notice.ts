import type { Severity } from './rule.ts';

/** The content of a notification. Summaries have labels of metrics only, so none of it is a patient's data. */
export interface Notice {
	/** The same at each attempt, so that a receiver can tell what it got twice. */
	id: string;
	event: 'alert.start' | 'alert.end' | 'test';
	alert: {
		id: string;
		name: string;
		severity: Severity;
		summary: string;
		/** The slug; null for an alert of the network or of a node. */
		site: string | null;
		/** Null for an alert of the network. */
		node: string | null;
		since: string;
		ended: string | null;
		/** The remedy, in Markdown. */
		runbook: string;
		/** The address in the console of the rows that it speaks of. */
		list: string | null;
	};
}

/** Returns where the console shows rows, if it can be reached and there are any. */
export function addressOf(consoleUrl: string | undefined, list: string | null | undefined): string | null {
	return consoleUrl !== undefined && list ? `${consoleUrl}${list}` : null;
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

export function subjectOf({ event, alert }: Notice): string {
	if (event === 'test') return '[Tributary] Test of a notification';
	const what = event === 'alert.end' ? 'Ended' : capital(alert.severity);
	return `[Tributary] ${what}: ${alert.summary}`;
}

/** The text of a mail. */
export function textOf({ event, alert }: Notice): string {
	if (event === 'test') return 'This is a test. Notifications about alerts of Tributary reach you here.\n';
	const facts: readonly (readonly [string, string | null])[] = [
		['Alert', alert.name],
		['Severity', alert.severity],
		['Site', alert.site],
		['Node', alert.node],
		['Since', alert.since],
		['Ended', alert.ended],
	];
	const lines = facts.flatMap(([name, value]) => (value === null ? [] : `${`${name}:`.padEnd(10)}${value}`));
	const toDo = event === 'alert.end' ? [] : ['', 'What to do', '', alert.runbook.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')];
	const rows = alert.list === null || event === 'alert.end' ? [] : ['', `Look here: ${alert.list}`];
	return `${[capital(alert.summary), '', ...lines, ...toDo, ...rows].join('\n')}\n`;
}

/** A notice that tests the way to a recipient. */
export function testNotice(id: string, nowMs: number): Notice {
	const since = new Date(nowMs).toISOString();
	const alert = { id, name: 'Test', severity: 'info', summary: 'a test of a notification', site: null, node: null, since } as const;
	return { id, event: 'test', alert: { ...alert, ended: null, runbook: '', list: null } };
}
