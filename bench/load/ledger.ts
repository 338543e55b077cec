import { LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import { told } from '../suite/books.ts';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';

/** Every way in at once: ledger clients of 20 sites send unique work over MLLP, HTTP, FHIR and DICOM, and what is stored is compared. */
export async function ledger(recorder: Recorder, options: SuiteOptions): Promise<void> {
	await using subject = await Subject.open('Tributary', { sites: 0 });
	recorder.database = await subject.settings();
	const sites = await ledgerSites(subject.databaseUrl, 20);
	await new Promise((resolve) => setTimeout(resolve, 1500));
	const client = new LedgerClient(sites, { port: (surface) => subject.port(surface) });
	const used = subject.observe();
	const startedMs = performance.now();
	await client.run({ signal: AbortSignal.timeout(options.isQuick ? 3000 : options.seconds * 2000) });
	const seconds = (performance.now() - startedMs) / 1000;
	const verdict = await client.verdict(subject.databaseUrl);
	const { text, isFault } = told(verdict);
	if (isFault) recorder.fault(`ledger clients: ${text}`);
	const usage = used(0);
	recorder.line({
		section: 'ledger',
		work: 'MLLP, HTTP, FHIR and C-STORE at once',
		subject: subject.name,
		kind: 'product',
		connections: 80,
		perSecond: verdict.acknowledged / seconds,
		p50Ms: null,
		p99Ms: null,
		failed: client.entries.filter(({ answer }) => answer === 'refused').length,
		driver: 'ledger clients',
		usage,
		ledger: text,
	});
}
