import { dayMs } from '#core/date-range.ts';
import type { SettingName } from '#record/settings/settings.ts';
import type { RetentionLimits } from './limits.ts';
import type { KeptName } from './metrics.ts';

interface Kept {
	/** A site may keep it for another time. */
	setting: SettingName;
	/** The time that holds for all other sites. */
	limit: keyof RetentionLimits;
	/** True if a legal hold on any patient or study of a site keeps all of it. Its rows do not tell for sure whom they are about. */
	isHeldWhole: boolean;
}

export const keptTable: Readonly<Record<KeptName, Kept>> = {
	messages: { setting: 'message_retention_days', limit: 'messageRetentionDays', isHeldWhole: true },
	history: { setting: 'history_retention_days', limit: 'historyRetentionDays', isHeldWhole: true },
	accepted: { setting: 'accepted_retention_days', limit: 'acceptedRetentionDays', isHeldWhole: false },
	unmatched: { setting: 'unmatched_retention_days', limit: 'unmatchedRetentionDays', isHeldWhole: true },
	jobs: { setting: 'job_retention_days', limit: 'jobRetentionDays', isHeldWhole: false },
	feeds: { setting: 'feed_retention_days', limit: 'feedRetentionDays', isHeldWhole: false },
	studies: { setting: 'study_retention_days', limit: 'studyRetentionDays', isHeldWhole: false },
};

/** A site as its retention is decided. The id is the nil id for what belongs to no site. */
export interface KeptSite {
	id: string;
	slug: string | null;
	settings: Readonly<Record<string, unknown>>;
	holds: number;
	/** True while it moves to or from another database, and for good once it was moved away: what is here may be all there is of it. */
	moves: boolean;
}

export interface Policy {
	kept: KeptName;
	site: KeptSite;
	/** 0 is for ever. */
	days: number;
	/** The one who decided. */
	from: 'site' | 'network';
	/** True if a legal hold keeps all of it now. */
	isHeld: boolean;
	/** True if nothing of it goes because the site moves or was moved. */
	isMoving: boolean;
}

/** Returns what a site says in one of its settings, and what the network says where the site is silent. */
export function daysOf({ settings }: KeptSite, setting: SettingName, ofNetwork: number): Pick<Policy, 'days' | 'from'> {
	const own = settings[setting];
	return typeof own === 'string' && own !== '' ? { days: Number(own), from: 'site' } : { days: ofNetwork, from: 'network' };
}

/** Returns for how long a site keeps something. */
export function policyOf(kept: KeptName, site: KeptSite, limits: RetentionLimits): Policy {
	const { setting, limit, isHeldWhole } = keptTable[kept];
	return { kept, site, ...daysOf(site, setting, limits[limit]), isHeld: isHeldWhole && site.holds > 0, isMoving: site.moves };
}

/** Returns the moment before which rows go; undefined if none does. */
export function cutoffOf({ days, isHeld, isMoving }: Policy, nowMs: number): Date | undefined {
	return days === 0 || isHeld || isMoving ? undefined : new Date(nowMs - days * dayMs);
}
