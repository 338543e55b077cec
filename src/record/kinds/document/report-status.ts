import { canonical, type JsonObject } from '#core/json.ts';
import { isCompleted } from '../../report.ts';
import { contentChange } from '../diagnostic-report.ts';

/**
 * Returns DiagnosticReport.status of a document that takes the place of `held` (FHIR R4, diagnostic-report-status): a completed report whose
 * content is another one is amended, or appended if it only has more results. Without another content it stays what it is.
 */
export function nextReportStatus(held: JsonObject, stated: JsonObject): string {
	const [before, after] = [String(held['status']), String(stated['status'])];
	if (!isCompleted(before) || after !== 'final') return after;
	const change = contentChange(untimed(held), untimed(stated));
	if (change === 'none') return before;
	const results = resultsOf(stated);
	return change === 'added' && resultsOf(held).every((result) => results.includes(result)) ? 'appended' : 'amended';
}

/** A report without a time of its own has that of its document, which is another one in each version. */
function untimed({ effectiveDateTime: _point, effectivePeriod: _period, ...others }: JsonObject): JsonObject {
	return others;
}

function resultsOf({ result }: JsonObject): string[] {
	return ((result ?? []) as JsonObject[]).map((reference) => canonical(reference));
}
