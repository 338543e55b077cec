import { test } from 'node:test';
import { events, messageCodes } from '#hl7v2/events/index.ts';
import { assertGenerated, tableOf } from '#test/support/generated-text.ts';

const document = 'docs/conformance/hl7v2.md';
const any = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const optional = events.filter(({ always }) => !always).map(({ messageType }) => messageType);

/** ADT^A01, A04 and ORU^R01: the code is said again when it changes. */
function listOf(messageTypes: readonly string[], before = ''): string {
	const names = messageTypes.map((messageType, index) => {
		const [code, trigger] = messageType.split('^');
		const last = index === 0 ? before : messageTypes[index - 1]?.split('^')[0];
		return code === last ? trigger : messageType;
	});
	return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

test(`${document} has a row for each event`, () => {
	const rows = events.map(({ messageType, always, effect }) => [messageType, always ? 'always' : 'opt-in', effect]);
	assertGenerated(document, /\| Message +\| Taken +\|[^\n]*\n(\|[^\n]*\n)*\|[^\n]*/, tableOf(['Message', 'Taken', 'Effect'], rows));
});

test(`${document} says which message types are not refused as such`, () => {
	assertGenerated(document, /Not [A-Z]{3}(?:(?:, | or )[A-Z]{3})*: AE 200\./, `Not ${any.format(messageCodes)}: AE 200.`);
});

test('README.md lists the events', () => {
	const always = listOf(events.filter((event) => event.always).map(({ messageType }) => messageType));
	assertGenerated(
		'README.md',
		/^Messages: [^;]*; a client may opt in to [^.]*\./m,
		`Messages: ${always}; a client may opt in to ${listOf(optional, 'ADT')}.`,
	);
});
