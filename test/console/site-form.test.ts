import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { listSettings, type SettingRecord } from '#administration/settings.ts';

interface Group {
	title?: string;
	fields: { name: string; fixed?: boolean }[];
}

/** The settings of sites but `also`, whose hint is read from the page. */
const ofSites = listSettings().filter(({ of, name }) => of.includes('site') && name !== 'also');

async function groupsOf(limits: boolean): Promise<Group[]> {
	const { siteSettings } = (await import(pathToFileURL('src/console/screens/sites/fields.ts').href)) as {
		siteSettings(those: readonly SettingRecord[], site: object, limits: boolean): Group[];
	};
	return siteSettings(ofSites, {}, limits);
}

describe('the form of a site', () => {
	for (const limits of [true, false]) {
		test(`has each setting of sites once, ${limits ? 'for an administrator' : 'for a manager'}`, async () => {
			const groups = await groupsOf(limits);
			const names = groups.flatMap(({ fields }) => fields.map(({ name }) => name));
			assert.deepEqual(names.toSorted(), [...new Set(names)].sort());
			assert.deepEqual(
				ofSites.map(({ name }) => name).filter((name) => !names.includes(name)),
				[],
			);
			assert.equal(new Set(groups.map(({ title }) => title)).size, groups.length);
		});
	}

	test('lets administrators alone say how long the site keeps its data', async () => {
		const kept = new Set<string>(ofSites.filter(({ topic }) => topic === 'retention').map(({ name }) => name));
		assert.ok(kept.size > 0);
		for (const limits of [true, false]) {
			const fields = (await groupsOf(limits)).flatMap((group) => group.fields).filter(({ name }) => kept.has(name));
			assert.deepEqual(
				fields.map(({ fixed }) => fixed),
				[...kept].map(() => !limits),
			);
		}
	});
});
