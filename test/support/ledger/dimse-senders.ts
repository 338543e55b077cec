import { element, sequence } from '../data-set.ts';
import { Modality } from '../modality.ts';
import { ctInstance, StorageScu } from '../storage-scu.ts';
import { ConnectedSender, refusedWith, type SenderPlace } from './sender.ts';
import type { Answer } from './verdict.ts';

const pixels = Buffer.alloc(2000, 7);

export class ImageSender extends ConnectedSender<StorageScu> {
	protected connect(): Promise<StorageScu> {
		const { site, way } = this.place;
		return StorageScu.open(way.port('dimse'), { called: site.aeTitle });
	}

	protected async sendOver(scu: StorageScu, key: string, number: number): Promise<Answer> {
		const studyUid = key.slice(0, key.lastIndexOf('.'));
		const sent = ctInstance({
			studyUid,
			seriesUid: `${studyUid}.1`,
			sopInstanceUid: key,
			patientId: `${this.name}-${Math.floor(number / 100)}`,
			pixels,
		});
		const { status = 0xa700 } = await this.inTime(scu.store(sent));
		// A warning says that it is stored, too.
		if (status === 0 || status >> 12 === 0xb) return 'accepted';
		return status >> 8 === 0xa7 ? 'none' : refusedWith(this.place, key, `C-STORE ${status.toString(16)}`);
	}

	protected end(scu: StorageScu): void {
		scu[Symbol.dispose]();
	}
}

const stateOf = (text: string) => element(0x0040_0252, 'CS', text);

function begun(studyUid: string, patientId: string): Buffer {
	return Buffer.concat([
		element(0x0008_0005, 'CS', 'ISO_IR 100'),
		element(0x0008_0060, 'CS', 'CT'),
		element(0x0010_0010, 'PN', 'Rivers^Alba'),
		element(0x0010_0020, 'LO', patientId),
		element(0x0040_0241, 'AE', 'CT1'),
		element(0x0040_0244, 'DA', '20260105'),
		element(0x0040_0245, 'TM', '101500'),
		stateOf('IN PROGRESS'),
		sequence(0x0040_0270, [element(0x0020_000d, 'UI', studyUid)]),
	]);
}

const ended = Buffer.concat([element(0x0040_0250, 'DA', '20260105'), element(0x0040_0251, 'TM', '1020'), stateOf('COMPLETED')]);

/** The report was taken before. */
const duplicateInstance = 0x0111;
const mayNoLongerBeUpdated = 0x0110;

/** Tells why a step was not taken: the service could not (PS3.7 Annex C: processing failure, resource limitation), or the report is at fault. */
function refusalOf(place: SenderPlace, key: string, operation: string, status: number | undefined): Answer {
	if (status === undefined || status === mayNoLongerBeUpdated || status === 0x0213) return 'none';
	return refusedWith(place, key, `${operation} ${status.toString(16)}`);
}

/** One procedure step a number: it is created, then completed. */
export class ModalitySender extends ConnectedSender<Modality> {
	protected connect(): Promise<Modality> {
		const { site, way } = this.place;
		return Modality.open(way.port('dimse'), site.aeTitle);
	}

	protected async sendOver(modality: Modality, key: string, number: number, isRepeat: boolean): Promise<Answer> {
		const created = await this.inTime(modality.create(key, begun(`${key}.1`, `${this.name}-${number % 50}`)));
		if (created.status !== 0 && !(isRepeat && created.status === duplicateInstance)) {
			return refusalOf(this.place, key, 'N-CREATE', created.status);
		}
		const set = await this.inTime(modality.set(key, ended));
		if (set.status === 0) return 'accepted';
		// The same status says that the step is completed, and that the service could not store; its Error ID tells which (PS3.4 F.7.2.2).
		if (isRepeat && set.status === mayNoLongerBeUpdated && set.errorId === 0xa710) return 'accepted';
		return refusalOf(this.place, key, 'N-SET', set.status);
	}

	protected end(modality: Modality): void {
		modality[Symbol.dispose]();
	}
}
