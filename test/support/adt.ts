/** A small ADT^A08 (or another event) whose content is told apart by a number in the patient's name. */
export function adt(controlId: string, patient: string, number: number | string, event = 'A08'): string {
	return [
		`MSH|^~\\&|ADT|HOSPITAL|TRIBUTARY|SITE|20260101120000+0000||ADT^${event}|${controlId}|P|2.5.1|||||||UNICODE UTF-8`,
		`EVN|${event}|20260101120000+0000`,
		`PID|1||${patient}^^^MRN^MR||Number${number}^Ann||19700131|F`,
		'',
	].join('\r');
}
