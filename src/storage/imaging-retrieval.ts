import type { Reader } from './reader.ts';
import { retrievedInstances, retrievedSyntaxes } from './statements/retrieve-instances.ts';

/** A study, one of its series, or one of its instances: one, two or three UIDs. */
export interface Retrieved {
	siteId: string;
	uids: readonly [studyUid: string] | readonly [studyUid: string, seriesUid: string] | readonly [string, string, sopInstanceUid: string];
}

/** Where an instance of the index lies. */
export interface IndexedInstance {
	studyUid: string;
	seriesUid: string;
	sopInstanceUid: string;
	sopClassUid: string;
	transferSyntaxUid: string;
	objectKey: string;
}

const pageRows = 500;

/** Transfer syntaxes with the number of instances in each; empty: there is no such thing. @throws Failure `unavailable` */
export async function transferSyntaxesOf(reader: Reader, { siteId, uids }: Retrieved): Promise<Map<string, number>> {
	const statement = retrievedSyntaxes[uids.length - 1];
	if (statement === undefined) throw new Error('one to three UIDs are retrieved by');
	const rows = await reader.run(statement, [siteId, ...uids]);
	return new Map(rows.map(([syntax, count]) => [syntax as string, Number(count)]));
}

/** The instances by series and instance UID, a page at a time. @throws Failure `unavailable` */
export async function* instancesOf(reader: Reader, { siteId, uids }: Retrieved): AsyncGenerator<IndexedInstance> {
	const statement = retrievedInstances[uids.length - 1];
	if (statement === undefined) throw new Error('one to three UIDs are retrieved by');
	let after = ['', ''];
	for (;;) {
		const rows = (await reader.run(statement, [siteId, ...uids, ...after, pageRows])) as string[][];
		for (const [seriesUid = '', sopInstanceUid = '', sopClassUid = '', transferSyntaxUid = '', objectKey = ''] of rows) {
			yield { studyUid: uids[0], seriesUid, sopInstanceUid, sopClassUid, transferSyntaxUid, objectKey };
		}
		if (rows.length < pageRows) return;
		after = (rows.at(-1) as string[]).slice(0, 2);
	}
}
