import { z } from 'zod';
import { type RecordedVersion, type SiteRecord, versionOf } from './site-record.ts';

/** The origin of a resource version. */
export const origin = z.strictObject({
	version: z.number().int(),
	at: z.string(),
	source: z.string().nullable().describe('meta.source'),
	message: z.string().nullable().describe('id of the logged message that wrote it'),
});

/** Looks up the messages that wrote the versions, all at once. Returns what tells the origin of one of them. */
export async function originsOf(
	record: SiteRecord,
	versions: readonly RecordedVersion[],
): Promise<(of: RecordedVersion) => z.output<typeof origin>> {
	const sources = await record.sources(versions);
	return (of) => ({ version: of.version, at: of.lastUpdated, source: of.source, message: sources.get(versionOf(of)) ?? null });
}
