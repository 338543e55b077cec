import type { Tone } from '../../components/badge.tsx';

/** Returns the colour for an action such as `key.revoke`. */
export function toneOf(action: string): Tone {
	const verb = action.split('.')[1] ?? '';
	if (/^(revoke|remove|disable|refused|locked|failed)/.test(verb)) return 'danger';
	if (/^(add|create|enable|accepted)/.test(verb)) return 'good';
	if (/^(set|settle|reset-password|password|merge|unmerge|replay|amend|complete)/.test(verb)) return 'warning';
	return 'neutral';
}
