/** Reads and writes command sets (PS3.7 §6.3, annex E): group 0000, Implicit VR Little Endian. */

/** Command Field (0000,0100) of requests; a response has the highest bit set as well. */
export const commandFields = {
	'C-STORE': 0x0001,
	'C-GET': 0x0010,
	'C-FIND': 0x0020,
	'C-MOVE': 0x0021,
	'C-ECHO': 0x0030,
	'N-EVENT-REPORT': 0x0100,
	'N-GET': 0x0110,
	'N-SET': 0x0120,
	'N-ACTION': 0x0130,
	'N-CREATE': 0x0140,
	'N-DELETE': 0x0150,
	'C-CANCEL': 0x0fff,
} as const;

export type Operation = keyof typeof commandFields;

const operations = new Map<number, Operation>(Object.entries(commandFields).map(([name, field]) => [field, name as Operation]));

export function operationOf(commandField: number): Operation | undefined {
	return operations.get(commandField);
}

/** Statuses of PS3.7 annex C that this room returns itself. */
export const statuses = {
	success: 0x0000,
	processingFailure: 0x0110,
	noSuchSopInstance: 0x0112,
	invalidArgumentValue: 0x0115,
	invalidSopInstance: 0x0117,
	sopClassNotSupported: 0x0122,
	noSuchActionType: 0x0123,
	notAuthorized: 0x0124,
	unrecognizedOperation: 0x0211,
	mistypedArgument: 0x0212,
	resourceLimitation: 0x0213,
	/** Status of C-STORE (PS3.4 §B.2.3). */
	outOfResources: 0xa700,
	dataSetDoesNotMatch: 0xa900,
	contentKeptAside: 0xb000,
	cannotUnderstand: 0xc000,
	contentRefused: 0xc111,
	/** Status of C-FIND, C-MOVE and C-GET (PS3.4 §C.4). */
	matchesNotCounted: 0xa701,
	subOperationsNotPerformed: 0xa702,
	moveDestinationUnknown: 0xa801,
	identifierDoesNotMatch: 0xa900,
	subOperationsFailed: 0xb000,
	unableToProcess: 0xc001,
	cancelled: 0xfe00,
	pending: 0xff00,
	/** Some optional keys are not supported. */
	pendingWithWarning: 0xff01,
} as const;

/** Command Data Set Type (0000,0800): no data set follows. Any other value means that one does. */
export const noDataSet = 0x0101;
const dataSetFollows = 0x0000;

export interface CommandSet {
	commandField: number;
	messageId: number;
	hasDataSet: boolean;
	/** Affected (0000,0002) or Requested (0000,0003) SOP Class UID; not validated. */
	sopClassUid: string | undefined;
	/** Affected (0000,1000) or Requested (0000,1001) SOP Instance UID; not validated. */
	sopInstanceUid: string | undefined;
	/** Action Type ID (0000,1008) of an N-ACTION. */
	actionTypeId: number | undefined;
	/** Move Destination (0000,0600); not validated. */
	moveDestination: string | undefined;
	/** Status (0000,0900) of a response. */
	status: number | undefined;
	/** Error Comment (0000,0902) of a response. */
	comment: string | undefined;
}

function uidOf(value: Buffer | undefined): string | undefined {
	return value?.toString('latin1').replace(/[ \0]+$/, '');
}

function shortOf(value: Buffer | undefined): number | undefined {
	return value?.length === 2 ? value.readUInt16LE(0) : undefined;
}

/** Returns undefined when the bytes are no command set, or lack a command field, message id or data set type. */
export function readCommandSet(bytes: Buffer): CommandSet | undefined {
	const values = new Map<number, Buffer>();
	for (let at = 0; at < bytes.length; ) {
		if (bytes.length - at < 8 || bytes.readUInt16LE(at) !== 0) return undefined;
		const end = at + 8 + bytes.readUInt32LE(at + 4);
		if (end > bytes.length) return undefined;
		values.set(bytes.readUInt16LE(at + 2), bytes.subarray(at + 8, end));
		at = end;
	}
	const commandField = shortOf(values.get(0x0100));
	const dataSetType = shortOf(values.get(0x0800));
	// Responses and cancellations name the message to which they belong (0000,0120).
	const messageId = shortOf(values.get(0x0110)) ?? shortOf(values.get(0x0120));
	if (commandField === undefined || dataSetType === undefined || messageId === undefined) return undefined;
	return {
		commandField,
		messageId,
		hasDataSet: dataSetType !== noDataSet,
		sopClassUid: uidOf(values.get(0x0002) ?? values.get(0x0003)),
		sopInstanceUid: uidOf(values.get(0x1000) ?? values.get(0x1001)),
		actionTypeId: shortOf(values.get(0x1008)),
		moveDestination: values.get(0x0600)?.toString('latin1').trim(),
		status: shortOf(values.get(0x0900)),
		comment: uidOf(values.get(0x0902)),
	};
}

/** Sub-operations of a C-MOVE or C-GET so far (PS3.7 §9.1.4). */
export interface SubOperations {
	/** Undefined when it is not stated, as in a final response. */
	remaining?: number | undefined;
	completed: number;
	failed: number;
	warning: number;
}

export interface DimseResponse {
	status: number;
	/** Error Comment (0000,0902). Characters outside ASCII are replaced, and the text is cut after 64 characters. */
	comment?: string | undefined;
	/** Error ID (0000,0903). */
	errorId?: number | undefined;
	/** The Affected SOP Instance UID, if it differs from that of the request. */
	sopInstanceUid?: string;
	subOperations?: SubOperations | undefined;
	/** The data set that follows, in the transfer syntax of the presentation context. */
	dataSet?: Buffer | undefined;
	/** The study of an instance that was stored. It is not sent; the audit trail names it. */
	studyUid?: string;
}

function element(number: number, value: Buffer): Buffer {
	const head = Buffer.alloc(8);
	head.writeUInt16LE(number, 2);
	head.writeUInt32LE(value.length, 4);
	return Buffer.concat([head, value]);
}

function short(number: number, value: number): Buffer {
	return element(number, Buffer.from([value & 0xff, value >> 8]));
}

function text(number: number, value: string, padding: string): Buffer {
	return element(number, Buffer.from(value.length % 2 === 0 ? value : value + padding, 'latin1'));
}

/** Joins the elements and puts their group length first. */
function commandGroup(elements: readonly Buffer[]): Buffer {
	const length = Buffer.alloc(4);
	length.writeUInt32LE(elements.reduce((sum, { length: bytes }) => sum + bytes, 0));
	return Buffer.concat([element(0x0000, length), ...elements]);
}

/** The numbers of sub-operations are US. A larger number is written as the largest possible one. */
function counts({ remaining, completed, failed, warning }: SubOperations): Buffer[] {
	const count = (number: number, value: number) => short(number, Math.min(value, 0xff_ff));
	const done = [count(0x1021, completed), count(0x1022, failed), count(0x1023, warning)];
	return remaining === undefined ? done : [count(0x1020, remaining), ...done];
}

/** Builds the command set of a response. UIDs are repeated as they came. */
export function responseSet(request: CommandSet, response: DimseResponse): Buffer {
	const instanceUid = response.sopInstanceUid ?? request.sopInstanceUid;
	return commandGroup([
		...(request.sopClassUid === undefined ? [] : [text(0x0002, request.sopClassUid, '\0')]),
		short(0x0100, request.commandField | 0x8000),
		short(0x0120, request.messageId),
		short(0x0800, response.dataSet === undefined ? noDataSet : dataSetFollows),
		short(0x0900, response.status),
		...(response.comment === undefined ? [] : [text(0x0902, response.comment.replace(/[^\x20-\x5b\x5d-\x7e]/g, '?').slice(0, 64), ' ')]),
		...(response.errorId === undefined ? [] : [short(0x0903, response.errorId)]),
		...(instanceUid === undefined ? [] : [text(0x1000, instanceUid, '\0')]),
		...(response.subOperations === undefined ? [] : counts(response.subOperations)),
	]);
}

/** A request that this side makes (PS3.7 §9.3, §10.3): all of them name an affected SOP class. */
export interface OutgoingRequest {
	operation: 'C-ECHO' | 'C-STORE' | 'N-EVENT-REPORT';
	sopClassUid: string;
	/** A C-ECHO has none. */
	sopInstanceUid?: string;
	/** Event Type ID (0000,1002) of an N-EVENT-REPORT. */
	eventTypeId?: number;
	/** The origin of a C-STORE on behalf of a C-MOVE: the requestor's AE title and the message id of that request. */
	moveOriginator?: { aeTitle: string; messageId: number };
}

/** Builds the command set of a request, of medium priority. */
export function requestSet(messageId: number, request: OutgoingRequest, hasDataSet: boolean): Buffer {
	const { operation, sopClassUid, sopInstanceUid, eventTypeId, moveOriginator } = request;
	return commandGroup([
		text(0x0002, sopClassUid, '\0'),
		short(0x0100, commandFields[operation]),
		short(0x0110, messageId),
		...(operation === 'C-STORE' ? [short(0x0700, 0)] : []),
		short(0x0800, hasDataSet ? dataSetFollows : noDataSet),
		...(sopInstanceUid === undefined ? [] : [text(0x1000, sopInstanceUid, '\0')]),
		...(eventTypeId === undefined ? [] : [short(0x1002, eventTypeId)]),
		...(moveOriginator === undefined ? [] : [text(0x1030, moveOriginator.aeTitle, ' '), short(0x1031, moveOriginator.messageId)]),
	]);
}
