import { Registry } from 'prom-client';

export type ExpositionFormat = 'text' | 'openmetrics';

/** Sets gauges when they are asked for. */
export interface Sampling {
	/** `sample` runs before every exposition, and whenever `refresh` is called, and sets the gauges that are cheaper to read than to follow. */
	beforeCollect(sample: () => void): void;
}

export interface Exposition extends Sampling {
	readonly registry: Registry;
	refresh(): void;
	exposition(format: ExpositionFormat): Promise<{ contentType: string; body: string }>;
}

/**
 * OpenMetrics 1.0 from the Prometheus text: a counter's family is named without `_total`, no blank lines, `# EOF`.
 * prom-client's own OpenMetrics mode renames the counters for good, so the next plain scrape would lose the suffix.
 */
function openMetrics(text: string): string {
	const counters = new Set<string>();
	for (const [, name] of text.matchAll(/^# TYPE (\S+)_total counter$/gm)) if (name !== undefined) counters.add(name);
	const lines = text.split('\n').filter((line) => line !== '');
	const renamed = lines.map((line) =>
		line.replace(/^# (HELP|TYPE) (\S+)_total /, (whole, keyword, name) => (counters.has(name) ? `# ${keyword} ${name} ` : whole)),
	);
	return `${renamed.join('\n')}\n# EOF\n`;
}

export function expositionOf(registry: Registry): Exposition {
	const samples: (() => void)[] = [];
	const refresh = () => {
		for (const sample of samples) sample();
	};
	return {
		registry,
		beforeCollect: (sample) => {
			samples.push(sample);
		},
		refresh,
		exposition: async (format) => {
			refresh();
			const text = await registry.metrics();
			return format === 'openmetrics'
				? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: openMetrics(text) }
				: { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: text };
		},
	};
}
