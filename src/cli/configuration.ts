import { type Config, environmentSchema } from '../config.ts';
import { limitDefinitions } from '../limits.ts';

export interface VariableRecord {
	variable: string;
	value: string;
	default: string;
	meaning: string;
}

/** Lists every variable with its effective value. Secrets are masked. */
export function configuration(config: Config | undefined): VariableRecord[] {
	const variables = Object.entries(environmentSchema.shape).map(([variable, schema]) => {
		const meta = (schema.meta() ?? {}) as { secret?: boolean; description?: string };
		const fallback = schema.safeParse(undefined);
		const value = config?.[variable as keyof typeof environmentSchema.shape];
		return {
			variable,
			value: meta.secret && value !== undefined ? '(set, not shown)' : shown(value),
			default: variable === 'DATA_DIR' ? './var' : shown(fallback.success ? fallback.data : undefined),
			meaning: meta.description ?? '',
		};
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

/** Aligns the columns, as the repository's formatter does. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
	const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
	const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}
