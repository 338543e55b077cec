/**
 * Settings as one JSON object: those of the column `settings`, and those that have a column of their own. A column that has its default
 * is not set. What a sender has goes before what its site has: `${siteSettings} || ${clientSettings}`.
 */
export const siteSettings = `(s.settings || jsonb_strip_nulls(jsonb_build_object('default_authority', s.default_authority,
	'update_creates', nullif(s.update_creates, true), 'check_references', nullif(s.check_references, true),
	'instance_policy', nullif(s.instance_policy, 'keep'))))`;

export const clientSettings = `(c.settings || jsonb_strip_nulls(jsonb_build_object('ack_mode', nullif(c.ack_mode, 'original'),
	'also', nullif(c.also_events, '{}'), 'ignore', nullif(c.ignore_events, '{}'))))`;

export const keySettings = 'k.settings';
