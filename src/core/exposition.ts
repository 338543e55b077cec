import { Registry } from 'prom-client';
import { type Across, type MetricSnapshot, renderedSnapshots, snapshotOf } from './metric-snapshot.ts';

export type ExpositionFormat = 'text' | 'openmetrics';

/** Sets gauges when they are asked for. */
export interface Sampling {
	/** `sample` runs before every exposition, and whenever `refresh` is called, and sets the gauges that are cheaper to read than to follow. */
	beforeCollect(sample: () => void): void;
}

/** Has series begin before their first event. */
export interface Beginning {
	/** The counters begin with 0 whose labels are listed but for those that are stated here, a site for instance. */
	begin(labels: Readonly<Record<string, string>>): void;
}

export interface Exposition extends Sampling {
	readonly registry: Registry;
	refresh(): void;
	/** Returns the metrics of this process; those of `names` if names are given. */
	snapshot(names?: readonly string[]): Promise<MetricSnapshot[]>;
	exposition(format: ExpositionFormat): Promise<Exposed>;
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

interface Exposed {
	contentType: string;
	body: string;
}

function exposed(text: string, format: ExpositionFormat): Exposed {
	return format === 'openmetrics'
		? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: openMetrics(text) }
		: { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: text };
}

/** Renders the metrics of a node that were put together from those of its processes. */
export async function expositionOfNode(metrics: readonly MetricSnapshot[], format: ExpositionFormat): Promise<Exposed> {
	return exposed(await renderedSnapshots(metrics), format);
}

/** @param acrossOf tells how the values of several processes become one */
export function expositionOf(registry: Registry, acrossOf: (name: string) => Across): Exposition {
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
			return exposed(await registry.metrics(), format);
		},
		snapshot: (names) => {
			refresh();
			return snapshotOf(registry, acrossOf, names);
		},
	};
}
