/** What a person should look at, though the message was applied. Never a patient's data. */
export interface Flag {
	code:
		| 'entries-refused'
		| 'other-patient'
		| 'possible-overlay'
		| 'same-control-id'
		| 'empty-value-type'
		| 'unknown-visit'
		| 'charset-assumed'
		| 'prior-patient-unknown'
		| 'unlink-unknown'
		| 'late-report'
		| 'late-document'
		| 'not-settable'
		| 'segment-skipped'
		| 'unreadable-value';
	text: string;
}
