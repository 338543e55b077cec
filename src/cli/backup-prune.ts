import type { KeepRules } from '#backup/keep.ts';
import { type PruneReport, prune } from '#backup/prune.ts';
import { withDatabase } from '#storage/open.ts';
import { atPlace, from, note, progressOn } from './backup.ts';
import { type BuiltIn, type Given, option } from './built-in.ts';
import { UsageError } from './command.ts';
import { openDatabase, printed } from './opened.ts';

/** A century of days. */
const keepMax = 36_525;
const number = { value: '<number>' };

export const backupPrune: BuiltIn = {
	name: 'backup prune',
	summary: 'says which backups the rules do not keep, and with --remove removes them and the objects that only they name',
	options: [
		from,
		option('keep-last', 'keeps so many of the newest', number),
		option('keep-daily', 'keeps the newest one of each of so many days (UTC)', number),
		option('keep-weekly', 'keeps the newest one of each of so many weeks', number),
		option('keep-monthly', 'keeps the newest one of each of so many months', number),
		option('remove', 'removes them; without it nothing is removed'),
	],
	run: async (given, streams, hooks) => {
		const rules = rulesOf(given);
		const config = hooks.readConfig();
		const remove = given.has('remove');
		const progress = progressOn(streams);
		const report = await atPlace('from', given, config, async (there): Promise<PruneReport> => {
			if (!remove) return prune({ place: there, rules, remove, removing: async () => undefined, progress });
			// The audit trail has a removal before it is carried out.
			const work = async (databaseUrl: string) => {
				const database = openDatabase(databaseUrl, config);
				const removing = ({ cut, cut_at, kind }: { cut: string; cut_at: string; kind: string }) =>
					note(database, 'backup.remove', cut, { cut_at, kind, place: there.name });
				return prune({ place: there, rules, remove, removing, progress }).finally(() => database.close());
			};
			return withDatabase(config, work, { create: false });
		});
		printed(report, given, streams);
		return 0;
	},
};

/** @throws UsageError */
function rulesOf(given: Given): KeepRules {
	const counted = (rule: string): number => {
		const text = given.text(rule) ?? '0';
		if (!/^\d{1,5}$/.test(text) || Number(text) > keepMax) throw new UsageError(`--${rule} is a whole number from 0 to ${keepMax}`);
		return Number(text);
	};
	const rules = {
		...{ last: counted('keep-last'), daily: counted('keep-daily') },
		...{ weekly: counted('keep-weekly'), monthly: counted('keep-monthly') },
	};
	if (Object.values(rules).every((count) => count === 0))
		throw new UsageError('say what stays: --keep-last, --keep-daily, --keep-weekly or --keep-monthly');
	return rules;
}
