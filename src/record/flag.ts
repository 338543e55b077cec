/** A reason why a person should look at a message although it was applied. It never contains a patient's data. */
export interface Flag {
	code:
		| 'batch-count'
		| 'entries-refused'
		| 'profile'
		| 'other-patient'
		| 'future-birth'
		| 'possible-overlay'
		| 'mismatch'
		| 'merged-number'
		| 'held'
		| 'identifiers-disagree'
		| 'number-not-added'
		| 'same-control-id'
		| 'empty-value-type'
		| 'unknown-visit'
		| 'visit-ended'
		| 'charset-assumed'
		| 'prior-patient-unknown'
		| 'unlink-unknown'
		| 'late-report'
		| 'late-result'
		| 'late-document'
		| 'time-zone-assumed'
		| 'uncertain-time'
		| 'not-settable'
		| 'several-resources'
		| 'repeated-observation'
		| 'result-left-out'
		| 'segment-skipped'
		| 'unreadable-value';
	text: string;
}
