import { imaging } from '#record/holdings/imaging.ts';
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
} from '../statements/replace-imaging.ts';
import {
	assignedParameters,
	assignStudies,
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
} from '../statements/write-imaging.ts';
import type { Writing } from '../writing.ts';

/** Sends the changes of a batch to the sites' studies. */
export function sendImaging(writing: Writing): void {
	const { lastUpdated } = writing;
	const replaced = writing.of(imaging, ({ replacements }, siteId) =>
		[...replacements.values()].map((replacement) => ({ siteId, replacement })),
	);
	if (replaced.length > 0) writing.send(deleteInstances, replacedParameters(replaced));
	const added = writing.of(imaging, (held, siteId) =>
		[...held.newInstances.values()].map((instance) => ({ siteId, added: instance, ...held.storedOf(instance) })),
	);
	if (added.length > 0) {
		writing.send(insertInstances, instanceParameters(added, lastUpdated));
		const [series, studies] = [seriesOf(added), studiesOf(added)];
		if (series.begun.length > 0) writing.send(upsertSeries, seriesParameters(series.begun));
		if (series.known.length > 0) writing.send(growSeries, grownSeriesParameters(series.known));
		if (studies.begun.length > 0) writing.send(upsertStudies, studyParameters(studies.begun, lastUpdated));
		if (studies.known.length > 0) writing.send(growStudies, grownStudyParameters(studies.known, lastUpdated));
	}
	if (replaced.length > 0) {
		const { named, isLessened } = affectedStudies(replaced, added);
		for (const statement of recounts) writing.send(statement, named);
		writing.send(restateSeries, restatedSeriesParameters(replaced));
		writing.send(restateStudies, restatedStudyParameters(replaced));
		writing.send(restateContents, [...named, isLessened, lastUpdated]);
	}
	const assigned = writing.of(imaging, (held, siteId) => [...held.assigned.values()].map((study) => ({ siteId, assigned: study })));
	if (assigned.length > 0) writing.send(assignStudies, assignedParameters(assigned, lastUpdated));
	sendConflicts(writing);
}

function sendConflicts(writing: Writing): void {
	const { lastUpdated } = writing;
	const conflicts = writing.of(imaging, ({ newConflicts }, siteId) => newConflicts.map((conflict) => ({ siteId, conflict })));
	if (conflicts.length > 0) writing.send(insertConflicts, conflictParameters(conflicts, lastUpdated));
	const decided = writing.of(imaging, ({ settledConflicts }, siteId) => settledConflicts.map((settled) => ({ siteId, settled })));
	if (decided.length > 0) writing.send(settleConflicts, settledParameters(decided, lastUpdated));
}
