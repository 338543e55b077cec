import type { WorkingSets } from './read-set.ts';
import type { Statement } from './statement.ts';
import {
	affectedStudies,
	deleteInstances,
	recounts,
	replacedParameters,
	restateContents,
	restatedSeriesParameters,
	restatedStudyParameters,
	restateSeries,
	restateStudies,
	settleConflicts,
	settledParameters,
} from './statements/replace-imaging.ts';
import {
	conflictParameters,
	grownSeriesParameters,
	grownStudyParameters,
	growSeries,
	growStudies,
	insertConflicts,
	insertInstances,
	instanceParameters,
	seriesOf,
	seriesParameters,
	studiesOf,
	studyParameters,
	upsertSeries,
	upsertStudies,
} from './statements/write-imaging.ts';

type Send = (statement: Statement, values: readonly unknown[]) => void;

/** Sends what a batch made of the sites' studies; the statements take effect in the order in which they are sent. */
export function sendImaging(send: Send, sets: WorkingSets, lastUpdated: string): void {
	const replaced = [...sets].flatMap(([siteId, set]) => [...set.replacements.values()].map((replacement) => ({ siteId, replacement })));
	if (replaced.length > 0) send(deleteInstances, replacedParameters(replaced));
	const added = [...sets].flatMap(([siteId, set]) =>
		[...set.newInstances.values()].map((instance) => ({ siteId, added: instance, ...set.storedOf(instance) })),
	);
	if (added.length > 0) {
		send(insertInstances, instanceParameters(added, lastUpdated));
		const [series, studies] = [seriesOf(added), studiesOf(added)];
		if (series.begun.length > 0) send(upsertSeries, seriesParameters(series.begun));
		if (series.known.length > 0) send(growSeries, grownSeriesParameters(series.known));
		if (studies.begun.length > 0) send(upsertStudies, studyParameters(studies.begun, lastUpdated));
		if (studies.known.length > 0) send(growStudies, grownStudyParameters(studies.known, lastUpdated));
	}
	if (replaced.length > 0) {
		const { named, isLessened } = affectedStudies(replaced, added);
		for (const statement of recounts) send(statement, named);
		send(restateSeries, restatedSeriesParameters(replaced));
		send(restateStudies, restatedStudyParameters(replaced));
		send(restateContents, [...named, isLessened, lastUpdated]);
	}
	sendConflicts(send, sets, lastUpdated);
}

function sendConflicts(send: Send, sets: WorkingSets, lastUpdated: string): void {
	const conflicts = [...sets].flatMap(([siteId, set]) => set.conflicts.map((conflict) => ({ siteId, conflict })));
	if (conflicts.length > 0) send(insertConflicts, conflictParameters(conflicts, lastUpdated));
	const decided = [...sets].flatMap(([siteId, set]) => set.settledConflicts.map((settled) => ({ siteId, settled })));
	if (decided.length > 0) send(settleConflicts, settledParameters(decided, lastUpdated));
}
