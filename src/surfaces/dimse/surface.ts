import { createArchive } from '#imaging/archive.ts';
import type { ProcedureStepService } from '#mpps/procedure-steps.ts';
import { CommitmentTable } from '#storage/commitments.ts';
import type { ServiceNode, Surface } from '../node.ts';
import { plainAndTls, tlsIdentity, trustedProxies } from '../tcp/listen.ts';
import { associationEvent, dimseQueryEvent } from './audit.ts';
import { Commitments } from './commitment-reports.ts';
import { createDimseSurface } from './listener.ts';

/** Serves DICOM over TCP. @param procedureStepsOf returns the service that carries out N-CREATE and N-SET of procedure steps */
export function dimseSurface(procedureStepsOf: (node: ServiceNode) => ProcedureStepService): Surface {
	return {
		name: 'dimse',
		open(node) {
			const { config, log, metrics, clock, directory, database, audit, objects, intake, quotas } = node;
			const { limits, DIMSE_PORT: port, DIMSE_TLS_PORT: tlsPort } = config;
			const tls = tlsIdentity(node);
			const remoteTls = { authorities: tls?.clientCa, cert: tls?.cert, key: tls?.key };
			const table = new CommitmentTable(database.journal);
			const commitment = new Commitments({ table, objects, directory, tls: remoteTls, limits, metrics, log });
			node.onClose(() => commitment.close());
			const surface = createDimseSurface({
				directory,
				intake,
				archive: createArchive(database.reads, objects),
				remoteAes: directory,
				remoteTls,
				procedureSteps: procedureStepsOf(node),
				commitment,
				storesUnknownSopClasses: config.DICOM_PRIVATE_CLASSES,
				isTrustedProxy: trustedProxies(node),
				audit: ({ address, reason }) => audit.record({ action: 'dimse.refused', subject: reason, source: address }),
				associationsMaxOf: (siteId) => directory.limitsOf(siteId)?.associationsMax,
				auditQuery: (answered) => audit.recordOf(dimseQueryEvent(answered)),
				auditAssociation: (ended) => {
					for (const event of associationEvent(ended, clock.nowMs())) audit.recordOf(event);
				},
				limits,
				quotas,
				metrics,
				log,
				clock,
			});
			return plainAndTls(node, 'dimse', surface, { port, tlsPort });
		},
	};
}
