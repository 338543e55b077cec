import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import type { ProcedureStepRequest, ProcedureStepService } from '#mpps/procedure-steps.ts';
import type { MppsDelivery } from '#record/delivery.ts';
import type { DimseStatus } from '#record/procedure-step.ts';
import { deliverSoon } from '../http/deliver.ts';
import { countReport } from './count.ts';
import type { MppsContext } from './ingest.ts';

/** The sender still has what it sent, so it can repeat it (PS3.7 Annex C.4.2). */
const unavailable: DimseStatus = { status: 0x0213, comment: 'the service cannot store now, send again' };

/** Lets DIMSE report to the same sessions as `POST /ingest`. */
export function createProcedureSteps(context: Omit<MppsContext, 'directory' | 'log'>): ProcedureStepService {
	const perform = async (operation: 'create' | 'set', request: ProcedureStepRequest): Promise<DimseStatus> => {
		const receivedAtMs = context.clock.nowMs();
		const delivery: MppsDelivery = {
			id: newId(receivedAtMs),
			kind: 'mpps',
			operation,
			siteId: request.siteId,
			clientId: request.clientId ?? nilId,
			surface: 'dimse',
			source: request.source,
			receivedAtMs,
			settings: request.settings,
			bytes: Buffer.from(JSON.stringify({ sop_instance_uid: request.sopInstanceUid, attributes: request.attributes })),
			...(request.trace && { trace: request.trace }),
		};
		try {
			const reply = await deliverSoon(context, delivery);
			countReport(context.metrics, 'dimse', request.siteSlug, reply);
			if (!('status' in reply.answer)) throw new Error('a DIMSE request was answered as a report');
			return reply.answer;
		} catch (error) {
			if (error instanceof Failure && error.code === 'unavailable') return unavailable;
			throw error;
		}
	};
	return { create: (request) => perform('create', request), set: (request) => perform('set', request) };
}
