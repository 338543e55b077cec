import type { TestContext } from 'node:test';
import type { AssociationMatch, RemoteAe } from '#access/directory.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { OwnQuotas } from '#core/node-line.ts';
import { targetPolicy } from '#core/target-policy.ts';
import type { AnnouncedInstance } from '#imaging/announced-instance.ts';
import type { Archive } from '#imaging/archive.ts';
import type { InstanceEntry, InstanceReception, IntakeResult } from '#imaging/intake.ts';
import type { ProcedureStepRequest } from '#mpps/procedure-steps.ts';
import type { DimseStatus } from '#record/procedure-step.ts';
import type { NewCommitment } from '#storage/commitments.ts';
import type { AnsweredQuery, CommitmentService, RefusedAssociation } from '#surfaces/dimse/context.ts';
import { createDimseSurface } from '#surfaces/dimse/listener.ts';
import type { ReturnChannel } from '#surfaces/dimse/service.ts';
import type { TcpListenOptions } from '#surfaces/tcp/reception.ts';
import { instanceAttributes } from '#test/support/instance-attributes.ts';
import { defaultLimits, type Limits } from '../../../src/limits.ts';
import { createMetrics, type MetricName, metricDefinitions } from '../../../src/metrics.ts';

export const ctImage = '1.2.840.10008.5.1.4.1.1.2';
export const verification = '1.2.840.10008.1.1';
export const procedureStep = '1.2.840.10008.3.1.2.3.3';
export const implicitLittleEndian = '1.2.840.10008.1.2';
export const explicitLittleEndian = '1.2.840.10008.1.2.1';
export const siteId = '0199c0de-0000-7000-8000-000000000002';

/** A promise and its resolution. */
export function gate(): { open: () => void; opened: Promise<void> } {
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { open, opened };
}

export interface TakenInstance {
	announced: AnnouncedInstance;
	chunks: Buffer[];
	ended: 'finished' | 'abandoned' | undefined;
	/** Writes that came before an earlier one had resolved. */
	overlapping: number;
	end: Promise<void>;
}

const stored: IntakeResult = { kind: 'stored', attributes: instanceAttributes(), hasReplaced: false };

/** Keeps what it is given, as long as `room` says; nothing waits by default. */
export class FakeIntake implements InstanceEntry {
	readonly taken: TakenInstance[] = [];
	room: (() => Promise<void>) | undefined;
	result: (instance: TakenInstance) => Promise<IntakeResult> = () => Promise.resolve(stored);
	#wake: () => void = () => {};

	begin(announced: AnnouncedInstance): InstanceReception {
		const { open, opened } = gate();
		const instance: TakenInstance = { announced, chunks: [], ended: undefined, overlapping: 0, end: opened };
		let writing = false;
		this.taken.push(instance);
		this.#wake();
		return {
			write: (chunk) => {
				if (writing) instance.overlapping += 1;
				instance.chunks.push(Buffer.from(chunk));
				if (this.room === undefined) return undefined;
				writing = true;
				return this.room().then(() => {
					writing = false;
				});
			},
			finish: async () => {
				instance.ended = 'finished';
				open();
				return this.result(instance);
			},
			abandon: async () => {
				instance.ended = 'abandoned';
				open();
			},
		};
	}

	/** Answers nobody until the function that it gives is called. */
	hold(): () => void {
		const { open, opened } = gate();
		this.result = async () => {
			await opened;
			return stored;
		};
		return open;
	}

	/** The nth instance, when its data set has begun. */
	async instance(index: number): Promise<TakenInstance> {
		while (this.taken[index] === undefined) {
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
		return this.taken[index] as TakenInstance;
	}
}

/** Answers every request with success, unless a test sets its own way. */
class FakeProcedureSteps {
	readonly requests: (ProcedureStepRequest & { operation: string })[] = [];
	answer: (operation: string, request: ProcedureStepRequest) => Promise<DimseStatus> = () => Promise.resolve({ status: 0 });

	create(request: ProcedureStepRequest): Promise<DimseStatus> {
		this.requests.push({ ...request, operation: 'create' });
		return this.answer('create', request);
	}
	set(request: ProcedureStepRequest): Promise<DimseStatus> {
		this.requests.push({ ...request, operation: 'set' });
		return this.answer('set', request);
	}
}

/** Notes every request, and reports nothing unless a test says how. */
class FakeCommitment implements CommitmentService {
	readonly requests: NewCommitment[] = [];
	answer: () => Promise<(channel: ReturnChannel) => void> = () => Promise.resolve(() => undefined);

	note(request: NewCommitment): Promise<(channel: ReturnChannel) => void> {
		this.requests.push(request);
		return this.answer();
	}
}

/** Accepts everybody who calls WEST. */
class FakeDirectory {
	refused = new Set<string>();
	unavailable = false;
	readonly grants = new Set<string>();
	readonly asked: string[][] = [];

	matchAssociation(calledAe: string, callingAe: string, address: string): AssociationMatch {
		this.asked.push([calledAe, callingAe, address]);
		if (this.unavailable) return { kind: 'unavailable' };
		if (calledAe !== 'WEST') return { kind: 'called-unknown' };
		if (this.refused.has(callingAe)) return { kind: 'calling-refused' };
		return { kind: 'accepted', siteId, siteSlug: 'west', clientId: undefined, settings: {}, grants: this.grants };
	}
}

export interface SetUp {
	limits?: Partial<Limits>;
	listen?: Partial<TcpListenOptions>;
	trustedProxies?: string[];
	storesUnknownSopClasses?: boolean;
	/** In place of the one that is given back. */
	entry?: InstanceEntry;
	archive?: Partial<Archive>;
	remoteAes?: readonly RemoteAe[];
	/** Remote AEs that are not listed cannot be looked up. */
	remoteAesUnavailable?: boolean;
}

/** Holds nothing. */
const emptyArchive: Archive = {
	search: () => Promise.resolve({ entities: [], next: undefined }),
	kinds: () => Promise.resolve([]),
	instances: () => Promise.resolve({ instances: [], next: undefined }),
	readDataSet: () => {
		throw new Error('there is no object');
	},
};

export async function startSurface(test: TestContext, setUp: SetUp = {}) {
	const { limits, listen, trustedProxies = [], storesUnknownSopClasses = true, entry, archive, remoteAes = [] } = setUp;
	const unlisted = setUp.remoteAesUnavailable ? 'unavailable' : undefined;
	const intake = new FakeIntake();
	const directory = new FakeDirectory();
	const procedureSteps = new FakeProcedureSteps();
	const commitment = new FakeCommitment();
	const refused: RefusedAssociation[] = [];
	const answered: AnsweredQuery[] = [];
	const metrics = createMetrics({ processMetrics: false });
	const surface = createDimseSurface({
		directory,
		intake: entry ?? intake,
		procedureSteps,
		commitment,
		archive: { ...emptyArchive, ...archive },
		remoteAes: { remoteAe: (_siteId, title) => remoteAes.find((remote) => remote.title === title) ?? unlisted },
		remoteTls: undefined,
		targets: targetPolicy([], '127.0.0.1'),
		storesUnknownSopClasses,
		isTrustedProxy: (address) => trustedProxies.includes(address),
		audit: ({ address, reason }) => refused.push({ address, reason }),
		warn: () => undefined,
		associationsMaxOf: () => undefined,
		noteUnmatched: () => undefined,
		auditQuery: (event) => answered.push(event),
		auditAssociation: () => undefined,
		limits: { ...defaultLimits, ...limits },
		quotas: new OwnQuotas(),
		metrics,
		log: silentLog,
		clock: systemClock,
	});
	const { port } = await surface.listen({ host: '127.0.0.1', port: 0, ...listen });
	test.after(() => surface.close(0));
	const counted = async (name: MetricName, labels: Record<string, string> = {}) => {
		const all = (await metrics.registry.getSingleMetric(metricDefinitions[name].name)?.get())?.values ?? [];
		const fitting = all.filter((value) => Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted));
		return fitting.reduce((sum, { value }) => sum + value, 0);
	};
	return { surface, port, intake, directory, procedureSteps, commitment, refused, answered, counted };
}
