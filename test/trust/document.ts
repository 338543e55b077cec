import { markdownTable } from '../../bench/report/markdown.ts';
import type { ProofResult } from './results.ts';

type Proof = ProofResult['proof'];

/** A guarantee of the product, what tries to break it, and the figures of the last kept run. */
interface Promised {
	promise: string;
	test: string;
	proof?: Proof;
	figures?: (of: (name: string) => string) => string;
}

const promises: readonly Promised[] = [
	{
		promise: 'What was acknowledged is stored',
		test: '`npm run test:fault`',
		proof: 'fault',
		figures: (of) => `${of('faults')} faults of ${of('kinds')} kinds; ${of('acknowledged')} acknowledged, lost ${of('lost')}`,
	},
	{
		promise: 'It is stored once, and a repeat changes nothing',
		test: '`npm run test:fault`',
		proof: 'fault',
		figures: (of) => `doubled ${of('doubled')}; ${of('resent')} sent again changed ${of('changedTables')} of ${of('tables')} tables`,
	},
	{
		promise: 'What one sender sends takes effect in its order',
		test: '`npm run test:fault`',
		proof: 'fault',
		figures: (of) => `out of order ${of('disordered')}`,
	},
	{
		promise: 'After a fault everybody is served again, and nothing is left open',
		test: '`npm run test:fault`',
		proof: 'fault',
		figures: (of) =>
			`senders without an answer ${of('stuck')} of ${of('senders')}; descriptors ${of('descriptorsBefore')} before, ${of('descriptorsAfter')} after; temporary files ${of('leftovers')}; at most ${of('residentMbHighest')} MB a process`,
	},
	{
		promise: 'What is refused is not stored',
		test: '`npm run test:fault`',
		proof: 'fault',
		figures: (of) => `refused ${of('refused')}, of them stored ${of('contradicted')}`,
	},
	{
		promise: 'A site sees only itself: every route, parameter and verb with what belongs to another site',
		test: '`test/integrity/isolation.test.ts`',
		proof: 'isolation',
		figures: (of) => `${of('requests')} requests, foreign rows shown or changed ${of('foreignRows')}`,
	},
	{
		promise: 'No operation shows or changes what belongs to another site',
		test: '`test/administration/operations.test.ts`',
	},
	{
		promise: 'Every input is read or refused, in bounded time and memory',
		test: '`npm run test:fuzz`',
		proof: 'fuzz',
		figures: (of) =>
			`${of('cases')} cases (${of('casesPerHour')} an hour), longest ${of('longestMs')} ms, within ${of('memoryMbMax')} MB; findings ${of('findings')}`,
	},
	{
		promise: 'Memory, descriptors, dead rows and the lag of the event loop stay flat',
		test: '`npm run test:soak`',
		proof: 'soak',
		figures: (of) =>
			`${of('seconds')} s at ${of('perSecond')} a second of at most ${of('maximumPerSecond')}; lost ${of('lost')}, doubled ${of('doubled')}`,
	},
	{
		promise: 'A cluster loses nothing when a node, the leader of the database, its link, PgBouncer, HAProxy or etcd ends',
		test: '`npm run test:cluster`, [docs/cluster.md](cluster.md)',
		proof: 'cluster',
		figures: (of) =>
			`${of('strikes')} strikes; ${of('acknowledged')} acknowledged, ${of('inDoubt')} without an answer; lost ${of('lost')}, doubled ${of('doubled')}, out of order ${of('disordered')}`,
	},
	{
		promise: 'An outage of the database makes no AE',
		test: '`test/integrity/database-outage.test.ts`, `test/integrity/stalled-database.test.ts`',
	},
	{
		promise: 'A frozen database, or an object store that is full or hangs, turns readiness off within two seconds',
		test: '`test/access/standstill.test.ts`, `test/integrity/stalled-database.test.ts`, `test/storage/objects/store-health.test.ts`, `test/integrity/c-store-faults.test.ts`',
	},
	{
		promise: 'Any text that a sender can make is stored or refused by its field, never by an error of the database',
		test: '`test/storage/indexed-texts.test.ts`, `test/integrity/sender-texts.test.ts`, `test/storage/sqlstate.test.ts`',
	},
	{
		promise: 'A message that takes too much processor time is refused, and holds up nobody else',
		test: '`test/integrity/cpu-budget.test.ts`, `test/site/cpu-budget.test.ts`',
	},
	{
		promise: 'A key is looked at before a body, and no key, address or site takes all room for bodies',
		test: '`test/surfaces/http/shares.test.ts`, `test/surfaces/http/keyed-answers.test.ts`',
	},
	{
		promise: 'No client and no site takes all connections, mailboxes, associations or jobs',
		test: '`test/integrity/connection-shares.test.ts`, `test/site/mailbox.test.ts`, `test/surfaces/fhir/bulk-shares.test.ts`, `npm run bench -- shares`',
	},
	{
		promise: 'An address belongs to one site, or somebody was asked',
		test: '`test/administration/clients.test.ts`',
	},
	{ promise: 'Refused callers are counted, logged and audited, and cannot flood either', test: '`test/access/refusals.test.ts`' },
	{
		promise: 'No line of the log and no metric has what a patient is known by',
		test: '`test/integrity/log-lines.test.ts`, `test/core/log.test.ts`',
	},
	{
		promise: 'No text of a parameter becomes a part of a statement',
		test: '`test/integrity/isolation.test.ts`',
	},
	{
		promise: 'A page of a foreign name reads nothing from console and metrics',
		test: '`test/surfaces/http/own-names.test.ts`, `test/surfaces/http/keyed-answers.test.ts`',
	},
	{ promise: 'A request within the body of another is answered by nobody', test: '`test/surfaces/http/smuggling.test.ts`' },
	{ promise: 'A connection that the database ends is replaced, whatever it was used for', test: '`test/storage/database.test.ts`' },
	{ promise: 'A COMMIT whose answer is lost is found, not repeated', test: '`test/integrity/lost-commit.test.ts`' },
	{
		promise: 'Several processes are one node: in its limits, and where keys are wrong or texts too long for an index',
		test: '`test/integrity/one-node.test.ts`, `test/integrity/processes.test.ts`, `test/processes`',
	},
	{
		promise: 'A change of access is in force on every process when it returns',
		test: '`test/integrity/access-in-force.test.ts`, `test/integrity/one-node.test.ts`',
	},
	{
		promise: 'Messages stay in order and are stored once over many connections, though workers are killed',
		test: '`test/integrity/site-order.test.ts`',
	},
	{ promise: 'Two nodes on one database keep the limits of jobs together', test: '`test/integrity/two-nodes.test.ts`' },
	{
		promise: 'Renewed certificates are in use without a restart, and at once after SIGHUP',
		test: '`test/surfaces/tls.test.ts`, `test/integrity/log-lines.test.ts`, `test/integrity/processes.test.ts`',
	},
	{ promise: 'A release before runs on the schema', test: '`test/integrity/previous-release.test.ts`' },
];

const notCovered: readonly string[] = [
	'**Loss of power.** Processes are killed, machines are not: what the kernel holds survives. PostgreSQL runs with `fsync`, and objects are synced before they are acknowledged, but no run has pulled a plug.',
	'**Storage that lies.** A disk that acknowledges a sync it did not do, or gives back other bytes than were written, is found only where a digest is compared.',
	'**Clocks that jump.** Ids follow a clock that goes back (`test/core/id.test.ts`), but no run turns the clock of the machine under load.',
	'**An object store of S3** under faults: the runs use files. `test/integrity/s3-store.test.ts` tries a store that fails.',
];

const thousands = (value: number) => value.toLocaleString('en-US');

function figuresOf({ proof, figures }: Promised, results: ReadonlyMap<Proof, ProofResult>): string {
	if (proof === undefined || figures === undefined) return 'in `npm test`';
	const result = results.get(proof);
	return result === undefined ? 'no run is kept' : figures((name) => thousands(result.figures[name] ?? Number.NaN));
}

/** docs/trust.md, from the results that are kept. */
export function trustDocument(kept: readonly (readonly [name: string, result: ProofResult])[]): string {
	const results = new Map(kept.map(([, result]) => [result.proof, result]));
	const runs = kept.map(([name, result]) => [
		`\`${name}\``,
		result.startedAt.slice(0, 10),
		result.commit,
		result.machine,
		`\`${result.command}\``,
		String(result.minutes),
	]);
	const tables = kept
		.filter(([, { table }]) => table.rows.length > 0)
		.map(
			([name, { table }]) =>
				`### \`${name}\`\n\n${markdownTable(
					table.head,
					table.rows.map((row) => row.map(String)),
					table.head.slice(1),
				)}`,
		);
	const skipped = kept.flatMap(([name, result]) => result.skipped.map((text) => `- Not tried in \`${name}\`: ${text}.`));
	return `# Trust

This page is generated from the results in \`test/trust/results\`: \`UPDATE_CONFORMANCE=1 npm test -- test/trust/document.test.ts\` writes it. The runs keep
a result there with \`--keep\`, and only if nothing failed. The short forms run with every change (\`.ci/run\`); the long ones are
\`npm run test:fault -- --seconds 3600 --keep\`, \`npm run test:fuzz -- --seconds 3600 --keep\` and \`npm run test:soak -- --keep\`. \`npm run test:cluster -- --keep\`
needs root and the programs of a cluster.

## What is promised, and what tries to break it

${markdownTable(
	['promise', 'test', 'last figures'],
	promises.map((promised) => [promised.promise, promised.test, figuresOf(promised, results)]),
)}

## Circumstances

${runs.length === 0 ? 'No run is kept.' : markdownTable(['run', 'day', 'commit', 'machine', 'command', 'minutes'], runs, ['minutes'])}

## What each run saw

A fault counts only if it was observed to bite: connections broke, bytes were held back, PostgreSQL told the SQLSTATE, or senders had no answer.

${tables.join('\n\n')}

## What is not covered

${[...notCovered.map((text) => `- ${text}`), ...skipped].join('\n')}
- **Row-level security** is no second wall: [decision 57](decisions/0057-row-level-security.md) has what it would cost.
`;
}
