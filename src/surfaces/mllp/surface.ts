import { createUnmatchedLog } from '#storage/unmatched.ts';
import type { ServiceNode, Surface } from '../node.ts';
import { plainAndTls, trustedProxies } from '../tcp/listen.ts';
import { createMllpSurface } from './listener.ts';

/** A part of closing. Senders were answered AE and still have what is not written by then. */
const unmatchedCloseMs = 2000;

/** HL7 v2 over MLLP. */
export const mllpSurface: Surface = {
	name: 'mllp',
	open(node: ServiceNode) {
		const { config, log, metrics, clock, directory, gateway, database, refusals, quotas, tracing } = node;
		const { limits, MLLP_PORT: port, MLLP_TLS_PORT: tlsPort } = config;
		const unmatched = createUnmatchedLog({ connection: database.journal, limits, metrics, log });
		node.onClose(() => unmatched.close(unmatchedCloseMs));
		const surface = createMllpSurface({
			directory,
			gateway,
			unmatched,
			feeds: node.feeds,
			isTrustedProxy: trustedProxies(node),
			audit: ({ address, reason }) => refusals.note({ action: 'mllp.refused', reason, source: address }),
			warn: ({ address, reason }) => refusals.note({ action: 'mllp.refused', reason, source: address, isAudited: false }),
			limits,
			quotas,
			metrics,
			log,
			tracing,
			clock,
		});
		return plainAndTls(node, 'mllp', surface, { port, tlsPort });
	},
};
