import { createArchive } from '#imaging/archive.ts';
import type { ProcedureStepService } from '#mpps/procedure-steps.ts';
import { CommitmentTable } from '#storage/commitments.ts';
import { createUnmatchedLog } from '#storage/unmatched.ts';
import type { Certificates } from '../../certificates.ts';
import type { ServiceNode, Surface } from '../node.ts';
import { plainAndTls, trustedProxies } from '../tcp/listen.ts';
import { associationEvent, dimseQueryEvent } from './audit.ts';
import { Commitments } from './commitment-reports.ts';
import { createDimseSurface } from './listener.ts';
import type { RequestorTls } from './requestor-tls.ts';
import { unmatchedAssociations } from './unmatched.ts';

/** A part of closing. The callers were rejected and call again. */
const unmatchedCloseMs = 2000;

/** Serves DICOM over TCP. @param procedureStepsOf returns the service that carries out N-CREATE and N-SET of procedure steps */
export function dimseSurface(procedureStepsOf: (node: ServiceNode) => ProcedureStepService): Surface {
	return {
		name: 'dimse',
		open(node) {
			const { config, log, metrics, clock, directory, database, audit, refusals, objects, intake, quotas, targets, tracing } = node;
			const { limits, DIMSE_PORT: port, DIMSE_TLS_PORT: tlsPort } = config;
			const remoteTls = remoteTlsOf(node.certificates);
			const table = new CommitmentTable(database.journal);
			const commitment = new Commitments({ table, objects, directory, tls: remoteTls, targets, limits, metrics, log });
			node.onClose(() => commitment.close());
			const unmatched = createUnmatchedLog({ connection: database.journal, limits, metrics, log });
			node.onClose(() => unmatched.close(unmatchedCloseMs));
			const surface = createDimseSurface({
				directory,
				intake,
				archive: createArchive(database.reads, database.currentReads, objects),
				remoteAes: directory,
				remoteTls,
				targets,
				procedureSteps: procedureStepsOf(node),
				commitment,
				storesUnknownSopClasses: config.DICOM_PRIVATE_CLASSES,
				isTrustedProxy: trustedProxies(node),
				audit: ({ address, ...refused }) => refusals.note({ action: 'dimse.refused', source: address, ...refused }),
				warn: ({ address, ...refused }) => refusals.note({ action: 'dimse.refused', source: address, ...refused, isAudited: false }),
				associationsMaxOf: (siteId) => directory.limitsOf(siteId)?.associationsMax,
				noteUnmatched: unmatchedAssociations({ directory, unmatched, feeds: node.feeds, clock }),
				auditQuery: (answered) => {
					for (const access of dimseQueryEvent(answered)) audit.recordAccess(access);
				},
				auditAssociation: (ended) => {
					for (const event of associationEvent(ended, clock.nowMs())) audit.recordOf(event);
				},
				limits,
				quotas,
				metrics,
				log,
				tracing,
				clock,
			});
			return plainAndTls(node, 'dimse', surface, { port, tlsPort });
		},
	};
}

/** Each association takes the certificate of its time. */
function remoteTlsOf(certificates: Certificates): RequestorTls {
	return {
		get authorities() {
			return certificates.identity?.clientCa;
		},
		get cert() {
			return certificates.identity?.cert;
		},
		get key() {
			return certificates.identity?.key;
		},
	};
}
