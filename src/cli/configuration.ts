import { listSettings, type SettingRecord } from '#administration/settings.ts';
import { type Config, environmentSchema, secretFileOf } from '../config.ts';
import { limitDefinitions } from '../limits.ts';

export interface VariableRecord {
	variable: string;
	value: string;
	default: string;
	meaning: string;
}

/** Lists every variable with its effective value. Secrets are masked. */
export function configuration(config: Config | undefined): VariableRecord[] {
	const variables = Object.entries(environmentSchema.shape).flatMap(([variable, schema]) => {
		const meta = (schema.meta() ?? {}) as { secret?: boolean; description?: string };
		const fallback = schema.safeParse(undefined);
		const value = config?.[variable as keyof typeof environmentSchema.shape];
		const row = {
			variable,
			value: meta.secret && value !== undefined ? '(set, not shown)' : shown(value),
			default: variable === 'DATA_DIR' ? './var' : shown(fallback.success ? fallback.data : undefined),
			meaning: meta.description ?? '',
		};
		if (!meta.secret) return [row];
		const file = secretFileOf(variable);
		return [
			row,
			{ variable: file, value: shown(config?.secretFiles[file]), default: 'unset', meaning: `a file with ${variable}, instead` },
		];
	});
	const limits = Object.entries(limitDefinitions).map(([name, { variable, default: fallback, answer }]) => ({
		variable,
		value: shown(config?.limits[name as keyof typeof limitDefinitions]),
		default: String(fallback),
		meaning: `at the limit: ${answer}`,
	}));
	return [...variables, ...limits];
}

function shown(value: unknown): string {
	if (value === undefined) return 'unset';
	if (typeof value === 'object' && !Array.isArray(value))
		return new URLSearchParams(value as Record<string, string>).toString().replaceAll('&', ',');
	return Array.isArray(value) ? value.join(',') || 'empty' : String(value);
}

/** Renders docs/configuration.md, for `tributary config --markdown`. */
export function configurationMarkdown(): string {
	const rows = configuration(undefined).map(({ variable, default: fallback, meaning }) => [
		variable,
		fallback,
		meaning.replaceAll('|', '\\|'),
	]);
	return [
		'# Configuration',
		'',
		'Printed by `tributary config --markdown` from the schema that reads the environment. Port 0 means any free port.',
		'',
		...markdownTable(['variable', 'default', 'meaning'], rows),
		'',
	].join('\n');
}

/** Renders docs/settings.md, for `tributary config --settings --markdown`. */
export function settingsMarkdown(): string {
	const rows = listSettings().map((setting) => [
		`\`--${setting.name.replaceAll('_', '-')}\``,
		`\`${setting.name}\``,
		setting.of.join(', '),
		setting.values.map(({ value }) => value).join(' \\| ') || setting.placeholder || 'on \\| off',
		shownDefault(setting),
		setting.meaning.replaceAll('|', '\\|'),
	]);
	return [
		'# Settings of sites and senders',
		'',
		'Printed by `tributary config --settings --markdown` from the table of settings (`src/record/settings/table.ts`).',
		'',
		'A site has values, and a sender may have others: an integration client (MLLP, DICOM) or an API key (HTTP, FHIR, DICOMweb). The',
		"sender's value holds, else that of its site, else the default. `site show`, `client show` and `key show` say which value holds and",
		'where it comes from, and the console shows it. An empty value removes a setting. A change is in force when the command returns',
		'on its node, and within a second on the others, on open connections too.',
		'',
		...markdownTable(['option', 'JSON', 'of', 'values', 'default', 'meaning'], rows),
		'',
		'Options belong to `site add`, `site set`, `client add`, `client set`, `key create` and `key set`; JSON names are those of the admin API.',
		'',
	].join('\n');
}

function shownDefault({ default: value, otherwise }: SettingRecord): string {
	if (value === true) return 'on';
	if (value === false) return 'off';
	return (Array.isArray(value) ? value.join(',') : value) || otherwise || 'none';
}

/** Aligns the columns, as the repository's formatter does. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
	const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
	const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}
