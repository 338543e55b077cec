import { isUid, type UidRule } from '#record/uid.ts';
import { DataSetFeed } from './data-set-feed.ts';
import { standardVrOf } from './dictionary.ts';
import { type DataSetVisitor, wish } from './element-walk.ts';
import { tagOf } from './elements.ts';
import type { DataSetFault } from './fault.ts';
import { textOf } from './values.ts';

export type SopIdentity = { sopClassUid: string; sopInstanceUid: string } | { fault: DataSetFault };

const sopClassUid = tagOf('SOPClassUID');
const sopInstanceUid = tagOf('SOPInstanceUID');
/** A UID has 64 characters; what is longer is none. */
const valueBytesMax = 256;

class Collector implements DataSetVisitor {
	readonly uids = new Map<number, string>();
	readonly vrOf = standardVrOf;

	element(tag: number, _vr: string, length: number) {
		if (tag > sopInstanceUid) return wish.stop;
		return (tag === sopClassUid || tag === sopInstanceUid) && length <= valueBytesMax ? wish.take : wish.skip;
	}

	value(tag: number, _vr: string, bytes: Buffer): void {
		this.uids.set(tag, textOf(bytes.toString('latin1')) ?? '');
	}

	itemStart(): void {}
	itemEnd(): void {}
	sequenceEnd(): void {}
}

/** Reads what a data set is an instance of from its first bytes: SOP Class UID (0008,0016) and SOP Instance UID (0008,0018). */
export class SopIdentityReader {
	readonly #rule: UidRule;
	readonly #collector = new Collector();
	readonly #feed: DataSetFeed;

	constructor(transferSyntaxUid: string, bytesMax: number, rule: UidRule = 'strict') {
		this.#rule = rule;
		this.#feed = new DataSetFeed(transferSyntaxUid, this.#collector, bytesMax);
	}

	/** True: wants more. The chunk is not kept. */
	feed(chunk: Uint8Array): boolean {
		return this.#feed.feed(chunk);
	}

	/** Called once, when there is no more to feed. */
	end(): SopIdentity {
		const fault = this.#feed.end();
		const [classUid = '', instanceUid = ''] = [this.#collector.uids.get(sopClassUid), this.#collector.uids.get(sopInstanceUid)];
		if (isUid(classUid) && isUid(instanceUid, this.#rule)) return { sopClassUid: classUid, sopInstanceUid: instanceUid };
		if (fault) return { fault };
		const named = isUid(classUid) ? 'SOPInstanceUID' : 'SOPClassUID';
		const isEmpty = (isUid(classUid) ? instanceUid : classUid) === '';
		return {
			fault: isEmpty ? { kind: 'missing', text: `${named} is missing` } : { kind: 'value', text: `${named} is not a UID` },
		};
	}
}
