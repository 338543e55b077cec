import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import { asObject } from '../elements.ts';
import type { OutcomeIssue } from '../operation-outcome.ts';
import { checkProfile } from '../profiles/check.ts';
import { declaredProfiles } from '../profiles/declared.ts';
import type { Library } from '../profiles/library.ts';

/**
 * Checks the profiles that a written resource claims (`meta.profile`), as far as they are known, and returns what its client is told of
 * them.
 * @throws Failure `unprocessable` with all issues, where the site enforces profiles and the resource does not conform to one
 */
export function profileNotices(resource: JsonObject, library: Library | undefined, settings: Settings): OutcomeIssue[] {
	if (library === undefined || asObject(resource['meta'])?.['profile'] === undefined) return [];
	const policy = settingOf(settings, 'profiles');
	if (policy === 'off') return [];
	const issues = declaredProfiles(resource, library).known.flatMap((profile) => checkProfile(resource, profile, library));
	const faults = issues.filter(({ severity }) => severity === 'error');
	if (policy === 'enforce' && faults.length > 0) {
		const text =
			faults.length === 1 ? (faults[0]?.diagnostics ?? '') : `the resource has ${faults.length} faults by the profiles that it claims`;
		throw new Failure('unprocessable', text, {
			issues: faults.map(({ code, diagnostics, expression = [] }) => ({ code, diagnostics, expression: expression[0] ?? '' })),
		});
	}
	// The resource is stored, so that nothing of it is an error.
	return issues.map((issue) => (issue.severity === 'error' ? { ...issue, severity: 'warning' } : issue));
}
