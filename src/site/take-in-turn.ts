import type { Letter, Mailbox } from './mailbox.ts';

export interface TakeOptions {
	messagesMax: number;
	/** The most messages of one site. */
	ofSiteMax: number;
	/** A larger message goes alone. */
	bytesMax: number;
	/** Tells whether the oldest letter of a mailbox has to wait until those that are taken are answered. */
	isLong(mailbox: Mailbox): boolean;
	onRoom(siteId: string): void;
}

/** Takes one letter of each mailbox in turn, until the batch is full; returns also the mailboxes in which letters are left, in the order of their turns. */
export function takeInTurn(mailboxes: readonly Mailbox[], options: TakeOptions): { letters: Letter[]; left: Mailbox[] } {
	const { messagesMax, ofSiteMax, bytesMax, isLong, onRoom } = options;
	const letters: Letter[] = [];
	const later: Mailbox[] = [];
	let bytes = 0;
	for (let [round, turn] = [mailboxes, 1]; round.length > 0; turn++) {
		const next: Mailbox[] = [];
		for (const [index, mailbox] of round.entries()) {
			const size = mailbox.oldest?.delivery.bytes.length ?? 0;
			if (letters.length >= messagesMax || (letters.length > 0 && bytes + size > bytesMax))
				return { letters, left: [...round.slice(index), ...next, ...later] };
			const letter = mailbox.shift();
			if (letter === undefined) continue;
			letters.push(letter);
			bytes += size;
			if (mailbox.length > 0) (turn >= ofSiteMax || isLong(mailbox) ? later : next).push(mailbox);
			onRoom(mailbox.siteId);
		}
		round = next;
	}
	return { letters, left: later };
}
