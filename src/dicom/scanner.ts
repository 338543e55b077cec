import type { InstanceAttributes, InstancePatient } from '#record/instance.ts';
import { isUid, type UidRule } from '#record/uid.ts';
import { type CharacterSet, characterSetOf, defaultCharacterSet } from './character-set.ts';
import { DataSetFeed } from './data-set-feed.ts';
import { type DataSetVisitor, wish } from './element-walk.ts';
import { type Keyword, keywordOf, tagOf, vrOf } from './elements.ts';
import { DataSetError, type DataSetFault } from './fault.ts';
import { dateOf, dateTimeOf, firstOf, integerOf, namePartsOf, nameTextOf, offsetOf, sexOf, textOf } from './values.ts';

export interface ScanLimits {
	/** Bytes before the pixel data that are read: element headers and wanted values, and everything in a deflated data set. */
	headerBytesMax: number;
}

export type ScanResult = { attributes: InstanceAttributes } | { fault: DataSetFault };

/** The longest wanted values are UT and PN in three groups; what is longer cannot be meant. */
const valueBytesMax = 4096;
const lastWantedTag = tagOf('Columns');
const accessionIssuer = tagOf('IssuerOfAccessionNumberSequence');
const patientIssuer = tagOf('IssuerOfPatientIDQualifiersSequence');

/**
 * Values without which an instance would be filed wrongly are refused when they are too long; others are left out. They are keys of
 * the index, and LO and SH have 64 characters at most, which come to 500 bytes in no character set. Modality is in an index as well.
 */
const filingBytesMax = 500;
const filing: ReadonlySet<Keyword> = new Set<Keyword>([
	'SOPClassUID',
	'SOPInstanceUID',
	'StudyInstanceUID',
	'SeriesInstanceUID',
	'PatientID',
	'IssuerOfPatientID',
	'AccessionNumber',
]);

/** The elements of the two issuer sequences that are wanted, under names of their own. */
const issuerKeys: ReadonlyMap<number, Readonly<Partial<Record<Keyword, IssuerKey>>>> = new Map([
	[accessionIssuer, { LocalNamespaceEntityID: 'accession namespace', UniversalEntityID: 'accession universal' }],
	[
		patientIssuer,
		{
			LocalNamespaceEntityID: 'patient namespace',
			UniversalEntityID: 'patient universal',
			UniversalEntityIDType: 'patient universal type',
		},
	],
]);
type IssuerKey = `${'accession' | 'patient'} ${'namespace' | 'universal'}` | 'patient universal type';

class Collector implements DataSetVisitor {
	readonly texts = new Map<Keyword | IssuerKey, string>();
	readonly numbers = new Map<Keyword, number>();
	readonly vrOf = vrOf;
	#characterSet: CharacterSet = defaultCharacterSet;
	#sequence: number = 0;
	#items = 0;

	element(tag: number, vr: string, length: number) {
		if (this.#sequence !== 0) return this.#inIssuer(tag, vr, length);
		if (tag > lastWantedTag) return wish.pass;
		if (tag < 0x0004_0000) throw new DataSetError('encoding', 'a command or file meta element lies in the data set');
		const keyword = keywordOf(tag);
		if (keyword === undefined || length === 0) return wish.skip;
		if (tag === accessionIssuer || tag === patientIssuer) {
			if (vr !== 'SQ') return wish.skip;
			this.#sequence = tag;
			this.#items = 0;
			return wish.take;
		}
		if (vr === 'SQ') return wish.skip;
		if (filing.has(keyword)) {
			if (length > filingBytesMax) throw new DataSetError('value', `${keyword} is too long`);
			return wish.take;
		}
		return length <= (keyword === 'Modality' ? filingBytesMax : valueBytesMax) ? wish.take : wish.skip;
	}

	#inIssuer(tag: number, vr: string, length: number) {
		const keyword = this.#items === 1 ? keywordOf(tag) : undefined;
		const isWanted = keyword !== undefined && issuerKeys.get(this.#sequence)?.[keyword] !== undefined;
		return isWanted && vr !== 'SQ' && length <= valueBytesMax ? wish.take : wish.skip;
	}

	value(tag: number, vr: string, bytes: Buffer, littleEndian: boolean): void {
		const keyword = keywordOf(tag);
		if (keyword === undefined) return;
		if (keyword === 'Rows' || keyword === 'Columns') {
			if (bytes.length < 2 || (vr !== 'US' && vr !== 'UN')) return;
			this.numbers.set(keyword, littleEndian ? bytes.readUInt16LE(0) : bytes.readUInt16BE(0));
			return;
		}
		if (keyword === 'SpecificCharacterSet') this.#characterSet = characterSetOf(bytes.toString('latin1'));
		else if (this.#sequence === 0) {
			if (this.texts.has(keyword)) throw new DataSetError('structure', `${keyword} occurs twice`);
			this.texts.set(keyword, this.#characterSet.decode(bytes));
		} else {
			const key = issuerKeys.get(this.#sequence)?.[keyword];
			if (key) this.texts.set(key, this.#characterSet.decode(bytes));
		}
	}

	itemStart(): void {
		this.#items += 1;
	}

	itemEnd(): void {}

	sequenceEnd(): void {
		this.#sequence = 0;
	}
}

function uid(texts: Collector['texts'], keyword: Keyword, rule: UidRule): string {
	// UI is padded with one NUL (PS3.5 §9.1); blanks are met too.
	const text = textOf(texts.get(keyword) ?? '');
	if (text === undefined) throw new DataSetError('missing', `${keyword} is missing`);
	if (!isUid(text, rule)) throw new DataSetError('value', `${keyword} is not a UID`);
	return text;
}

function patientOf(texts: Collector['texts']): InstancePatient {
	const universal = textOf(texts.get('patient universal') ?? '');
	return {
		id: textOf(texts.get('PatientID') ?? ''),
		issuer: textOf(texts.get('IssuerOfPatientID') ?? '') ?? universal,
		...(universal !== undefined && { universalIssuer: { id: universal, type: textOf(texts.get('patient universal type') ?? '') ?? '' } }),
		name: namePartsOf(texts.get('PatientName') ?? ''),
		birthDate: dateOf(texts.get('PatientBirthDate') ?? ''),
		gender: sexOf(texts.get('PatientSex') ?? ''),
	};
}

function attributesOf({ texts, numbers }: Collector, transferSyntaxUid: string, rule: UidRule): InstanceAttributes {
	const raw = (keyword: Keyword) => texts.get(keyword) ?? '';
	const frames = integerOf(raw('NumberOfFrames'));
	return {
		sopClassUid: uid(texts, 'SOPClassUID', 'strict'),
		sopInstanceUid: uid(texts, 'SOPInstanceUID', rule),
		studyUid: uid(texts, 'StudyInstanceUID', rule),
		seriesUid: uid(texts, 'SeriesInstanceUID', rule),
		transferSyntaxUid,
		timezoneOffset: offsetOf(raw('TimezoneOffsetFromUTC')),
		patient: patientOf(texts),
		study: {
			started: dateTimeOf(raw('StudyDate'), raw('StudyTime')),
			accessionNumber: textOf(raw('AccessionNumber')),
			accessionIssuer: textOf(texts.get('accession namespace') ?? '') ?? textOf(texts.get('accession universal') ?? ''),
			studyId: textOf(raw('StudyID')),
			description: textOf(raw('StudyDescription')),
			referringPhysician: nameTextOf(raw('ReferringPhysicianName')),
		},
		series: {
			modality: firstOf(raw('Modality')),
			number: integerOf(raw('SeriesNumber')),
			description: textOf(raw('SeriesDescription')),
			bodyPart: firstOf(raw('BodyPartExamined')),
			station: textOf(raw('StationName')),
			started: dateTimeOf(raw('SeriesDate'), raw('SeriesTime')),
		},
		number: integerOf(raw('InstanceNumber')),
		rows: numbers.get('Rows'),
		columns: numbers.get('Columns'),
		frames: frames !== undefined && frames > 0 ? frames : undefined,
	};
}

/**
 * Reads what identifies an instance from the bytes of its data set, while they arrive and no further than Columns (0028,0011). The rest
 * is only walked through, by the lengths of its elements: a data set that is cut off shows there. The pixel data is never looked at, and
 * no length in the data set makes it allocate more than 4 KiB.
 */
export class DataSetScanner {
	readonly #transferSyntaxUid: string;
	readonly #rule: UidRule;
	readonly #collector = new Collector();
	readonly #feed: DataSetFeed;

	constructor(transferSyntaxUid: string, limits: ScanLimits, rule: UidRule = 'strict') {
		this.#transferSyntaxUid = transferSyntaxUid;
		this.#rule = rule;
		this.#feed = new DataSetFeed(transferSyntaxUid, this.#collector, limits.headerBytesMax);
	}

	/**
	 * True: wants more. False: everything wanted was read, or a fault found; `end` tells which. What is fed after that counts for `cut`
	 * alone. The chunk is not kept.
	 */
	feed(chunk: Uint8Array): boolean {
		return this.#feed.feed(chunk) && !this.#feed.isPassing;
	}

	/** Returns what was found; called once, when no more is wanted or there is no more. */
	end(): ScanResult {
		const fault = this.#feed.isPassing ? undefined : this.#feed.end();
		if (fault) return { fault };
		try {
			return { attributes: attributesOf(this.#collector, this.#transferSyntaxUid, this.#rule) };
		} catch (error) {
			if (error instanceof DataSetError) return { fault: error.fault };
			throw error;
		}
	}

	/**
	 * Called after the last byte: tells where the data set is cut off behind what identifies the instance. A rest that cannot be walked
	 * through is not a cut; it is stored as it is. A deflated data set is judged by `WholenessReader`.
	 */
	cut(): DataSetFault | undefined {
		return this.#feed.isPassing ? this.#feed.cut() : undefined;
	}
}
