import type { OutcomeIssue } from '../operation-outcome.ts';

/** The most issues that one check reports; the last one then says that there are more. */
const issuesMax = 50;
/** The most steps of one check. A resource and a profile of common size need some thousand. */
const stepsMax = 500_000;

/** Counts the steps of one check, so that no profile and no resource keeps a worker busy for long. */
export class Effort {
	#steps = 0;

	/** Returns false when the check has to end. */
	step(): boolean {
		this.#steps++;
		return this.#steps <= stepsMax;
	}

	get isSpent(): boolean {
		return this.#steps > stepsMax;
	}
}

/** The findings of a check. */
export class Findings {
	readonly #issues: OutcomeIssue[] = [];
	readonly #seen = new Set<string>();
	#faults = 0;

	/** True when nothing that was found is an error. */
	get isSound(): boolean {
		return this.#faults === 0;
	}

	error(code: string, diagnostics: string, path: string): void {
		this.#faults++;
		this.#add({ severity: 'error', code, diagnostics, expression: [path] });
	}

	warning(code: string, diagnostics: string, path: string): void {
		this.#add({ severity: 'warning', code, diagnostics, expression: [path] });
	}

	/** Says once what was not checked. */
	unchecked(diagnostics: string): void {
		this.#add({ severity: 'information', code: 'incomplete', diagnostics });
	}

	/** Takes over what a part of the check found. */
	adopt(part: Findings): void {
		this.#faults += part.#faults;
		for (const issue of part.#issues) this.#add(issue);
	}

	list(): OutcomeIssue[] {
		if (this.#issues.length <= issuesMax) return [...this.#issues];
		const more: OutcomeIssue = { severity: 'warning', code: 'too-costly', diagnostics: `There are more issues than these ${issuesMax}` };
		// Errors come first, so that none is cut for the sake of a remark.
		const order = { error: 0, warning: 1, information: 2 };
		const sorted = [...this.#issues].sort((left, right) => order[left.severity] - order[right.severity]);
		return [...sorted.slice(0, issuesMax), more];
	}

	#add(issue: OutcomeIssue): void {
		const key = `${issue.severity} ${issue.code} ${issue.expression?.[0] ?? ''} ${issue.diagnostics}`;
		// A list is kept a little longer than it is shown, so that it is known whether there is more.
		if (this.#seen.has(key) || this.#issues.length > issuesMax * 4) return;
		this.#seen.add(key);
		this.#issues.push(issue);
	}
}
