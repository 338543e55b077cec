import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { type LoopLags, loopLag } from './loop-lag.ts';

/** The longest time that a timer can wait. prom-client starts Node's monitor of the event loop in any case; so it hardly ever looks. */
const neverMs = 2 ** 31 - 1;

/** The gauges by which prom-client states what Node's monitor measures. */
const lagGauges: readonly { part: keyof LoopLags; help: string }[] = [
	{ part: 'min', help: 'The least lag of the event loop since the last exposition.' },
	{ part: 'max', help: 'The greatest lag of the event loop since the last exposition.' },
	{ part: 'mean', help: 'The mean lag of the event loop since the last exposition.' },
	{ part: 'stddev', help: 'The standard deviation of the lag of the event loop since the last exposition.' },
	{ part: 'p50', help: 'The 50th percentile of the lag of the event loop since the last exposition.' },
	{ part: 'p90', help: 'The 90th percentile of the lag of the event loop since the last exposition.' },
	{ part: 'p99', help: 'The 99th percentile of the lag of the event loop since the last exposition.' },
];

/** Sums of other gauges, with the ending of a counter: they break the rule of Prometheus, and say nothing of their own. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Adds the metrics of the process and of Node.js, under the names of prom-client. Those of the event loop are measured by `loopLag`. */
export function addProcessMetrics(registry: Registry): void {
	collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
	for (const name of misnamed) registry.removeSingleMetric(name);
	const reader = loopLag.follow();
	const gauges = new Map<keyof LoopLags, Gauge>();
	for (const { part, help } of lagGauges) {
		const name = `nodejs_eventloop_lag_${part}_seconds`;
		registry.removeSingleMetric(name);
		gauges.set(part, new Gauge({ name, help, registers: [registry] }));
	}
	const name = 'nodejs_eventloop_lag_seconds';
	registry.removeSingleMetric(name);
	new Gauge({
		name,
		help: 'The mean lag of the event loop since the last exposition.',
		registers: [registry],
		collect() {
			const lags = reader.read();
			this.set(lags.mean);
			for (const [part, gauge] of gauges) gauge.set(lags[part]);
		},
	});
}
