import { type Stoppable, systemTimers, type Timers } from '#core/timers.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import { Company } from './company.ts';
import { type BatchOutcome, type Flight, Flights, type Landed } from './flights.ts';
import { giveUp, unavailable, unsure } from './giving-up.ts';
import type { MailboxLimits } from './limits.ts';
import { type Letter, Mailbox, type Parting } from './mailbox.ts';
import { Returning } from './returning.ts';
import { type Crash, judge } from './suspicion.ts';
import { takeInTurn } from './take-in-turn.ts';

export interface LaneOptions {
	limits: MailboxLimits & DeliveryLimits;
	/** Processes one batch; never rejects. `isAhead`: the one before it has not ended, and nothing of this one may be stored unless all of that was. */
	process(deliveries: Delivery[], isAhead: boolean): Promise<BatchOutcome>;
	nowMs(): number;
	/** The system's unless it is given. */
	timers?: Timers;
	/** The sites of all lanes of the process; of this lane alone unless it is given. */
	company?: Company;
	onAvailability(available: boolean): void;
	onRoom(siteId: string): void;
	/** Told of each message that was carried out, as its sender is answered. */
	onAnswered?: ((delivery: Delivery, reply: Reply) => void) | undefined;
	/**
	 * Processes a message that takes long, apart from those of other sites; resolves when it is answered or given up, or withheld: then it
	 * comes back. Absent in the lane that does this.
	 */
	apart?: ((letter: Letter) => Promise<Parting>) | undefined;
}

/** The pause doubles from here, so a larger first one would only delay the recovery. */
const retryMsMin = 50;
/** The wait is short enough that messages that arrive after the database is back do not expire before the next try. */
const retryMsMax = ({ unavailableMsMax }: MailboxLimits & DeliveryLimits) => Math.min(1000, unavailableMsMax / 4);

/**
 * The mailboxes of some sites, with one batch in flight. Meanwhile the mailboxes fill. The next batch takes from all of them in turn, each
 * first in first out. Where enough waits for two batches (BATCH_AHEAD_MIN), the second is interpreted while the first is carried out.
 */
export class Lane {
	readonly #options: LaneOptions;
	readonly #mailboxes = new Map<string, Mailbox>();
	readonly #returning: Returning;
	readonly #timers: Timers;
	#waiting: Mailbox[] = [];
	/** Mailboxes whose first letter could not be carried out; they wait apart, so that other sites go on. */
	readonly #held = new Set<Mailbox>();
	/** Mailboxes whose last letter is processed apart: what follows it waits. */
	readonly #away = new Set<Mailbox>();
	readonly #flights = new Flights();
	/** When the last batch was answered. */
	#answeredMs = Number.NEGATIVE_INFINITY;
	/** The event for which the next batch waits. */
	#scheduled: 'soon' | 'retry' | 'returning' | undefined;
	#timer: Stoppable | undefined;
	#closed = false;
	#retryMs = 0;
	#batchMax: number;
	readonly #company: Company;
	/** From so many messages on, each of two batches is worth its fixed cost. */
	readonly #aheadMin: number;
	#idle: (() => void)[] = [];

	constructor(options: LaneOptions) {
		this.#options = options;
		this.#timers = options.timers ?? systemTimers;
		this.#batchMax = options.limits.batchMessagesMax;
		this.#company = options.company ?? new Company(this.#timers, options.limits.siteAloneMs);
		this.#aheadMin = options.limits.batchAheadMin || Number.POSITIVE_INFINITY;
		this.#returning = new Returning(options.limits.batchWaitMsMax);
	}

	mailbox(siteId: string): Mailbox | undefined {
		return this.#mailboxes.get(siteId);
	}

	mailboxes(): Iterable<Mailbox> {
		return this.#mailboxes.values();
	}

	get available(): boolean {
		return this.#retryMs === 0;
	}

	get messagesInFlight(): number {
		return this.#flights.messages;
	}

	/** Those under way, and those that wait. */
	get messagesInHand(): number {
		return this.#flights.messages + this.#waitingMessages();
	}

	/** Tells whether messages of a site wait or are under way. */
	has(siteId: string): boolean {
		const mailbox = this.#mailboxes.get(siteId);
		return mailbox !== undefined && (mailbox.length > 0 || this.#away.has(mailbox) || this.#flights.has(siteId));
	}

	/** The messages of a site that come go to another lane. There is nothing of it here. */
	forget(siteId: string): void {
		this.#mailboxes.delete(siteId);
	}

	deliver(delivery: Delivery): Promise<Reply> {
		return new Promise((resolve, reject) => {
			this.#receive({ delivery, enqueuedAtMs: this.#options.nowMs(), crashesAlone: 0, resolve, reject });
		});
	}

	/** Takes over a letter of another lane; resolves when it is answered, given up or withheld. */
	takeOver(letter: Letter): Promise<Parting> {
		return new Promise((resolve) => {
			letter.left = resolve;
			this.#receive(letter);
		});
	}

	#receive(letter: Letter): void {
		const { siteId } = letter.delivery;
		let mailbox = this.#mailboxes.get(siteId);
		if (mailbox === undefined) {
			mailbox = new Mailbox(siteId);
			this.#mailboxes.set(siteId, mailbox);
		}
		if (mailbox.length === 0 && !this.#away.has(mailbox)) this.#waiting.push(mailbox);
		mailbox.push(letter);
		this.#company.arrived(siteId);
		this.#returning.arrived();
		this.#schedule();
	}

	/** Resolves when nothing waits and nothing is in flight. */
	idle(): Promise<void> {
		if (this.isIdle) return Promise.resolve();
		return new Promise((resolve) => this.#idle.push(resolve));
	}

	/** Takes no further batch. */
	close(): void {
		this.#closed = true;
	}

	get isIdle(): boolean {
		return this.#flights.size === 0 && this.#waiting.length === 0 && this.#held.size === 0 && this.#away.size === 0;
	}

	/**
	 * Waits for the senders that were just answered, and for the end of the I/O phase, so that messages that arrived on other sockets
	 * meanwhile share the transaction.
	 */
	#schedule(): void {
		if (this.#closed || (this.#waiting.length === 0 && this.available)) return;
		if (this.#flights.size > 0 && !this.#mayGoAhead()) return;
		if (this.#scheduled === 'soon' || this.#scheduled === 'retry') return;
		const waitMs = this.#retryMs > 0 || this.#waitingMessages() >= this.#batchMax ? 0 : this.#returning.waitMs(this.#timers.elapsedMs());
		if (this.#retryMs > 0) this.#startIn(this.#retryMs, 'retry');
		else if (waitMs === 0) this.#startSoon();
		else if (this.#scheduled === undefined) this.#startIn(waitMs, 'returning');
	}

	#startSoon(): void {
		this.#timer?.stop();
		this.#scheduled = 'soon';
		this.#timers.soon(() => this.#start());
	}

	#waitingMessages(): number {
		let messages = 0;
		for (const mailbox of this.#waiting) messages += mailbox.length;
		return messages;
	}

	/** Tells whether a batch may be interpreted while another one is carried out. Messages of other sites would wait for both. */
	#mayGoAhead(): boolean {
		const isInOrder = this.available && this.#batchMax === this.#options.limits.batchMessagesMax;
		const isWorthIt = () => this.#flights.messages >= this.#aheadMin && this.#waitingMessages() >= this.#aheadMin;
		return isInOrder && this.#flights.size === 1 && isWorthIt() && this.#company.isAlone();
	}

	/** Returns how many messages the next batch may have. What is enough for two is divided between them, so that neither waits long for the other. */
	#messagesMax(): number {
		const messages = this.#flights.messages + this.#waitingMessages();
		return messages < 2 * this.#aheadMin ? this.#batchMax : Math.min(this.#batchMax, Math.ceil(messages / 2));
	}

	#startIn(ms: number, scheduled: 'retry' | 'returning'): void {
		this.#scheduled = scheduled;
		const start = () => {
			if (scheduled === 'returning') this.#returning.timedOut();
			this.#start();
		};
		// A waiting message keeps the process running; a database that is away does not.
		this.#timer = this.#timers.after(ms, start, scheduled === 'returning');
	}

	#start(): void {
		this.#scheduled = undefined;
		if (this.#closed) return;
		const isAhead = this.#flights.size > 0;
		if (isAhead && !this.#mayGoAhead()) return;
		const letters = this.#take(this.#messagesMax());
		// While nothing can be stored, an empty batch finds out when that ends, because nobody delivers before.
		const isMade = letters.length > 0 || (!isAhead && !this.available);
		if (isMade) void this.#run(this.#flights.add(letters), isAhead);
		else this.#tellIdle();
		// Long messages alone wait for the end of the batch before them.
		if (isMade || !isAhead) this.#schedule();
	}

	async #run(flight: Flight, isAhead: boolean): Promise<void> {
		this.#returning.started();
		const startedMs = this.#timers.elapsedMs();
		const deliveries = flight.letters.map((letter) => letter.delivery);
		flight.outcome = await this.#options.process(deliveries, isAhead);
		for (const landed of this.#flights.landed()) this.#land(landed, startedMs);
		this.#tellIdle();
		this.#schedule();
	}

	#land({ letters, outcome }: Landed, startedMs: number): void {
		const endedMs = this.#timers.elapsedMs();
		const tookMs = endedMs - Math.max(startedMs, this.#answeredMs);
		if (outcome.kind === 'done') this.#returning.answered(letters.length, tookMs, endedMs);
		this.#answeredMs = endedMs;
		this.#conclude(letters, outcome);
	}

	#tellIdle(): void {
		if (this.isIdle) for (const resolve of this.#idle.splice(0)) resolve();
	}

	/**
	 * Takes a batch from the mailboxes. One whose turn is that of a long message is left out: the message is processed apart, once those of its
	 * site that are under way are answered.
	 */
	#take(messagesMax: number): Letter[] {
		const long = new Set(this.#waiting.filter((mailbox) => this.#isLong(mailbox)));
		const others = this.#waiting.filter((mailbox) => !long.has(mailbox));
		const { letters, left } = takeInTurn(others, {
			messagesMax,
			ofSiteMax: this.#company.isAlone() ? messagesMax : this.#options.limits.batchSiteMessagesMax,
			bytesMax: this.#options.limits.batchBytesMax,
			isLong: (mailbox) => this.#isLong(mailbox),
			onRoom: this.#options.onRoom,
		});
		this.#waiting = left;
		for (const mailbox of long) {
			if (this.#flights.has(mailbox.siteId)) this.#waiting.unshift(mailbox);
			else this.#sendAway(mailbox);
		}
		return letters;
	}

	#isLong({ oldest }: Mailbox): boolean {
		// A message that is withheld is only logged and refused.
		if (this.#options.apart === undefined || oldest === undefined || oldest.delivery.withheld) return false;
		return oldest.isApart === true || oldest.delivery.bytes.length >= this.#options.limits.longMessageBytes;
	}

	#sendAway(mailbox: Mailbox): void {
		const letter = mailbox.shift();
		if (letter === undefined) return;
		this.#away.add(mailbox);
		this.#options.onRoom(mailbox.siteId);
		void this.#options.apart?.(letter).then((parting) => {
			this.#away.delete(mailbox);
			if (parting === 'withheld') mailbox.unshift([letter]);
			if (mailbox.length > 0) this.#waiting.push(mailbox);
			this.#tellIdle();
			this.#schedule();
		});
	}

	#conclude(batch: readonly Letter[], outcome: BatchOutcome): void {
		if (outcome.kind === 'done') {
			this.#setRetry(0);
			this.#batchMax = Math.min(this.#options.limits.batchMessagesMax, this.#batchMax * 2);
			this.#answer(batch, outcome.replies);
			return;
		}
		if (outcome.kind === 'crashed') {
			this.#recover(batch, outcome);
			return;
		}
		this.#putBack(batch);
		if (outcome.kind === 'behind') return;
		// A message that has waited for the answer to a COMMIT as long as it may is not carried out again.
		this.expire();
		this.#setRetry(Math.min(retryMsMax(this.#options.limits), Math.max(retryMsMin, this.#retryMs * 2)));
	}

	#answer(batch: readonly Letter[], replies: readonly (Reply | undefined)[]): void {
		const left: Letter[] = [];
		for (const [index, letter] of batch.entries()) {
			const reply = replies[index];
			if (reply !== undefined) {
				const mailbox = this.#mailboxes.get(letter.delivery.siteId);
				if (mailbox) mailbox.heldMs = 0;
				letter.resolve(reply);
				this.#options.onAnswered?.(letter.delivery, reply);
				letter.left?.('ended');
			} else if (index < replies.length) {
				left.push(letter);
			} else {
				giveUp(letter, new Error('a batch answered fewer messages than it was given'));
			}
		}
		if (left.length > 0) this.#hold(left);
	}

	/** Puts letters back that were not carried out, and takes their sites up again after a pause. */
	#hold(letters: readonly Letter[]): void {
		const sites = new Set(letters.map(({ delivery }) => delivery.siteId));
		this.#putBack(letters);
		const held = this.#waiting.filter(({ siteId }) => sites.has(siteId));
		this.#waiting = this.#waiting.filter(({ siteId }) => !sites.has(siteId));
		for (const mailbox of held) {
			mailbox.heldMs = Math.min(retryMsMax(this.#options.limits), Math.max(retryMsMin, mailbox.heldMs * 2));
			this.#held.add(mailbox);
			const takeUp = () => {
				if (!this.#held.delete(mailbox)) return;
				this.#waiting.push(mailbox);
				this.#schedule();
			};
			this.#timers.after(mailbox.heldMs, takeUp, true);
		}
	}

	/** Takes a batch up again whose worker ended. */
	#recover(batch: readonly Letter[], crash: Crash): void {
		const { again, lost, returned } = judge(batch, crash, this.#options.apart !== undefined);
		for (const letter of lost) giveUp(letter, unsure());
		for (const letter of returned) letter.left?.('withheld');
		this.#putBack(again);
		if (crash.at !== undefined) return;
		// Nobody knows which message it was, so they go one by one; and why, so the next try waits.
		this.#batchMax = 1;
		this.#setRetry(retryMsMin);
	}

	#putBack(batch: readonly Letter[]): void {
		const bySite = new Map<string, Letter[]>();
		for (const letter of batch) {
			const letters = bySite.get(letter.delivery.siteId);
			if (letters) letters.push(letter);
			else bySite.set(letter.delivery.siteId, [letter]);
		}
		const first: Mailbox[] = [];
		for (const [siteId, letters] of bySite) {
			const mailbox = this.#mailboxes.get(siteId);
			if (mailbox === undefined) throw new Error('a batch held letters of a site without mailbox');
			mailbox.unshift(letters);
			first.push(mailbox);
		}
		this.#waiting = [...first, ...this.#waiting.filter((mailbox) => !first.includes(mailbox))];
	}

	#setRetry(retryMs: number): void {
		const before = this.available;
		this.#retryMs = retryMs;
		if (before !== this.available) this.#options.onAvailability(this.available);
	}

	/**
	 * Gives up messages that waited longer than `unavailableMsMax`, with all that wait for the same site. A later message must not take
	 * effect before
	 * an earlier one that its sender will send again.
	 */
	expire(): void {
		const deadline = this.#options.nowMs() - this.#options.limits.unavailableMsMax;
		for (const letter of this.#flights.letters) if (letter.enqueuedAtMs < deadline) letter.reject(unavailable());
		const expired = [...this.#waiting, ...this.#held, ...this.#away].filter(
			(mailbox) => (mailbox.oldest?.enqueuedAtMs ?? deadline) < deadline,
		);
		if (expired.length === 0) return;
		this.#waiting = this.#waiting.filter((mailbox) => !expired.includes(mailbox));
		for (const mailbox of expired) {
			this.#held.delete(mailbox);
			mailbox.heldMs = 0;
			for (const letter of mailbox.takeAll()) giveUp(letter, unavailable());
			this.#options.onRoom(mailbox.siteId);
		}
		this.#tellIdle();
	}
}
