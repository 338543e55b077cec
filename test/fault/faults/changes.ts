import { parseApiKey } from '#access/api-key.ts';
import { eventually } from '#test/support/eventually.ts';
import { insertKey } from '#test/support/ledger/keys.ts';
import { mergeMessage } from '#test/support/ledger/messages.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import type { Bed } from '../bed.ts';
import type { Fault } from './definition.ts';

let merges = 0;

/** The numbers of a sender's patients that stand for themselves, as soon as there are two: the merge of an unknown number has no patient to hide. */
async function numbersToMerge(bed: Bed, siteId: string, sender: string): Promise<number[]> {
	let numbers: number[] = [];
	await eventually(async () => {
		const found = await bed.rows<{ value: string }>(
			`select i.value from patient_identifier i join patient p on p.site_id = i.site_id and p.id = i.patient_id
			  where i.site_id = $1 and i.value ^@ $2 and i.rank = 0 and not i.old and p.merged_into is null order by i.value`,
			[siteId, `${sender}-`],
		);
		numbers = found.map(({ value }) => Number(value.slice(sender.length + 1)));
		return numbers.length > 1;
	}, `two patients of ${sender}`);
	return numbers;
}

/** No faults, but what people do while the work goes on. */
export const changes: readonly Fault[] = [
	{
		name: 'keys rotated',
		strike: async (bed) => {
			const before = bed.sites.map(({ key }) => key);
			for (const site of bed.sites) {
				const { key } = await insertKey((text, values) => bed.rows(text, values), site.id);
				await eventually(async () => (await bed.statusOf(key)) === 200, 'the new key');
				site.key = key;
			}
			await bed.rows(
				'update api_key set revoked_at = now() where revoked_at is null and id <> all($1::text[]) and site_id = any($2::uuid[])',
				[bed.sites.map(({ key }) => parseApiKey(key)?.id), bed.sites.map(({ id }) => id)],
			);
			await bed.rows('update access_version set version = version + 1');
			for (const key of before) await eventually(async () => (await bed.statusOf(key)) === 401, 'the end of the old key');
			return before.length;
		},
	},
	{
		name: 'patients merged',
		strike: async (bed, chance) => {
			let merged = 0;
			for (const [index, site] of bed.sites.entries()) {
				const client = await MllpClient.connect(bed.service.port('mllp'), site.address);
				try {
					const [survivor = 0, prior = 1] = chance.shuffled(await numbersToMerge(bed, site.id, `mllp-${index}`));
					const answer = msa(await client.send(mergeMessage(`mllp-${index}`, `merge-${++merges}`, survivor, prior)));
					if (answer.code === 'AA') merged++;
					else bed.refusals.push(`merge of ${prior} into ${survivor}: ${answer.text}`);
				} finally {
					client.close();
				}
			}
			const stored = await bed.number('select count(*) from patient where merged_into is not null');
			return Math.min(merged, stored);
		},
	},
];
